import type { z } from 'zod';
import type { callRecordQuerySchema } from '../api.ts';
import type { Crib } from '../crib.ts';
import type { CallStatus } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { Origin } from '../model/origin.ts';
import type { CallFilter } from '../store/call-filter.ts';

type CallQuery = z.output<typeof callRecordQuerySchema>;

/** Which calls a request asks for: what it names in its own words, by what the record has. */
export function callFilterOf(crib: Crib, query: CallQuery): CallFilter {
  const { status, origin, tool, source, user, subject, from, until } = query;
  return {
    ...(status === undefined ? {} : { statuses: [...new Set(status.split(','))] as CallStatus[] }),
    ...(origin === undefined ? {} : { origins: [...new Set(origin.split(','))] as Origin[] }),
    // [NAME-1] A name the record may have although there is no such tool any more.
    ...(tool === undefined ? {} : { tool: crib.counter.snapshot.find(tool)?.name ?? tool }),
    ...(source === undefined ? {} : { sourceId: sourceIdOf(crib, source) }),
    ...(user === undefined ? {} : { user }),
    ...(subject === undefined ? {} : { subject }),
    ...(from === undefined ? {} : { from }),
    ...(until === undefined ? {} : { until }),
  };
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

function sourceIdOf({ counter }: Crib, written: string): string {
  const source = counter.sources.get(written) ?? [...counter.sources.values()].find(({ namespace }) => namespace === written);
  if (source !== undefined) return source.id;
  if (uuid.test(written)) return written;
  throw new CribError(
    'NOT_FOUND',
    'There is no such source. Calls of one that was removed are found by its id, or by the names of its tools',
    {
      field: 'source',
    },
  );
}
