import type { Json } from '../../../model/json.ts';

/** What stands at a path such as `data.jobs[0].status`; undefined where there is nothing. The empty path is the whole. */
export function fieldAt(value: Json | undefined, path: string): Json | undefined {
  let found = value;
  for (const name of path.split(/[.[\]]+/).filter((part) => part !== '')) {
    // Only what the answer itself has: `constructor` is no field of it.
    if (found === null || typeof found !== 'object' || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, Json>)[name];
  }
  return found;
}
