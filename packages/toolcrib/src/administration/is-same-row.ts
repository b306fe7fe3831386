import { canonicalJson } from '../inventory/definition-hash.ts';

/** Whether a change would leave everything as it is but for its own time. */
export function isSameRow<Row extends { updated_at: number }>(before: Row, after: Row): boolean {
  return canonicalJson({ ...before, updated_at: 0 }) === canonicalJson({ ...after, updated_at: 0 });
}
