import { canonicalJson } from '../../model/canonical-json.ts';
import { isObject } from '../../model/json.ts';

export interface FieldDifference {
  /** A path with dots: `resilience.requestTimeoutMs`. */
  field: string;
  /** Null if the field was absent. */
  before: unknown;
  /** Null if the field is removed. */
  after: unknown;
}

/** The fields that differ; lists are compared as a whole. */
export function fieldDifferences(before: unknown, after: unknown, at = ''): FieldDifference[] {
  if (canonicalJson(before ?? null) === canonicalJson(after ?? null)) return [];
  if (!isObject(before) || !isObject(after)) return [{ field: at, before: before ?? null, after: after ?? null }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => fieldDifferences(own(before, name), own(after, name), at === '' ? name : `${at}.${name}`));
}

function own(record: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
