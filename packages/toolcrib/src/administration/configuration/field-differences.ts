import { canonicalJson } from '../../inventory/definition-hash.ts';

export interface FieldDifference {
  /** With dots: `resilience.requestTimeoutMs`. */
  field: string;
  /** Null where it was not there. */
  before: unknown;
  /** Null where it is not there any more. */
  after: unknown;
}

/** What is different, field by field; lists are compared as a whole. */
export function fieldDifferences(before: unknown, after: unknown, at = ''): FieldDifference[] {
  if (canonicalJson(before ?? null) === canonicalJson(after ?? null)) return [];
  if (!isRecord(before) || !isRecord(after)) return [{ field: at, before: before ?? null, after: after ?? null }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => fieldDifferences(own(before, name), own(after, name), at === '' ? name : `${at}.${name}`));
}

function own(record: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
