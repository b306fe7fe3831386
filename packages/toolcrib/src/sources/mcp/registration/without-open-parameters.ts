import type { Json } from '../../../model/json.ts';
import type { ManifestRemote } from './manifest-model.ts';

/** The address of a remote server, without optional query parameters that have no value. */
export function withoutOpenParameters({ url, variables }: ManifestRemote, config: Json): string {
  const question = url.indexOf('?');
  if (question < 0) return url;
  const given = typeof config === 'object' && config !== null ? config : {};
  const isOpen = (slot: string) => {
    const variable = Object.hasOwn(variables, slot) ? variables[slot] : undefined;
    return variable !== undefined && !variable.required && variable.value === undefined && variable.default === undefined;
  };
  const kept = url
    .slice(question + 1)
    .split('&')
    .filter((part) => {
      const [, slot] = /=\{([^{}]+)\}$/.exec(part) ?? [];
      return slot === undefined || !isOpen(slot) || Object.hasOwn(given, slot);
    });
  return `${url.slice(0, question)}${kept.length === 0 ? '' : `?${kept.join('&')}`}`;
}
