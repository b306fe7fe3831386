import { canonicalJson } from '../model/canonical-json.ts';

/** Whether two rows differ in nothing but `updated_at`. */
export function isSameRow<Row extends { updated_at: number }>(before: Row, after: Row): boolean {
  return canonicalJson({ ...before, updated_at: 0 }) === canonicalJson({ ...after, updated_at: 0 });
}
