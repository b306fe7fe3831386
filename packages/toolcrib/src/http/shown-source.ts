import type { Crib } from '../crib.ts';
import { isDefined, type SourceRecord } from '../model/source.ts';
import { registrationOf, showSource } from '../sources/source-registrations.ts';

/** A source as the API shows it: its registration as it was given, without its secrets, what that comes to, and how it is. */
export function shownSource(sources: Crib['sources'], source: SourceRecord) {
  const { registration: _stored, ...own } = source;
  return {
    ...own,
    ...(isDefined(source) ? { ...registrationOf(source), definition: showSource(source) } : { definition: null }),
    ...sources.stateOf(source),
  };
}
