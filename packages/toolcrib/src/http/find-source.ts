import type { Crib } from '../crib.ts';
import { CribError } from '../model/crib-error.ts';
import type { SourceRecord } from '../model/source.ts';

/** A source by its id or its namespace. */
export function findSource({ counter }: Crib, reference: string): SourceRecord {
  const source = counter.sources.get(reference) ?? [...counter.sources.values()].find(({ namespace }) => namespace === reference);
  if (source === undefined) throw new CribError('NOT_FOUND', 'There is no such source');
  return source;
}
