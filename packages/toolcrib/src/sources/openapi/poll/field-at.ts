import type { Json } from '../../../model/json.ts';

/** The value at a path such as `data.jobs[0].status`; undefined if there is none. The empty path is the whole value. */
export function fieldAt(value: Json | undefined, path: string): Json | undefined {
  let found = value;
  for (const name of path.split(/[.[\]]+/).filter((part) => part !== '')) {
    // Own properties only: `constructor` is not a field of the response.
    if (found === null || typeof found !== 'object' || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, Json>)[name];
  }
  return found;
}
