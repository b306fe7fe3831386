import type { z } from 'zod';
import type { callRecordQuerySchema } from '../api.ts';
import type { Crib } from '../crib.ts';
import type { CallStatus } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { Origin } from '../model/origin.ts';
import type { SourceRecord } from '../model/source.ts';
import type { CallFilter } from '../store/call-filter.ts';

type CallQuery = z.output<typeof callRecordQuerySchema>;

/** Translates the query of a request into a filter on the record of calls. */
export function callFilterOf({ sources, tools }: Pick<Crib, 'sources' | 'tools'>, query: CallQuery): CallFilter {
  const { status, origin, tool, source, user, subject, from, until } = query;
  return {
    ...(status === undefined ? {} : { statuses: [...new Set(status.split(','))] as CallStatus[] }),
    ...(origin === undefined ? {} : { origins: [...new Set(origin.split(','))] as Origin[] }),
    // [NAME-1] A name the record may have although there is no such tool any more.
    ...(tool === undefined ? {} : { tool: tools.find(tool)?.name ?? tool }),
    ...(source === undefined ? {} : { sourceId: sourceIdOf(sources.find(source), source) }),
    ...(user === undefined ? {} : { user }),
    ...(subject === undefined ? {} : { subject }),
    ...(from === undefined ? {} : { from }),
    ...(until === undefined ? {} : { until }),
  };
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

function sourceIdOf(found: SourceRecord | undefined, written: string): string {
  if (found !== undefined) return found.id;
  if (uuid.test(written)) return written;
  throw new CribError('NOT_FOUND', 'There is no such source. Find the calls of a removed source by its id or by the names of its tools', {
    field: 'source',
  });
}
