import type { ToolOutput } from '../../../model/call.ts';
import { CribError } from '../../../model/crib-error.ts';
import type { HttpOperation } from '../../../model/http-operation.ts';
import type { JsonObject } from '../../../model/json.ts';
import { pauseBefore } from '../../../model/poll-pauses.ts';
import type { PollProfile } from '../../../model/poll-profile.ts';
import type { CallContext } from '../../source.ts';
import { beginOperation, type Begun } from './begin-operation.ts';
import { lookAgain } from './look-again.ts';
import type { Look, Waiting } from './look.ts';
import type { SendOperation } from './operation-answer.ts';
import { startRequest } from './start-request.ts';

export interface PollInput {
  operation: HttpOperation;
  profile: PollProfile;
  args: JsonObject;
  context: CallContext;
  send: SendOperation;
}

/** Keeps a service that sends `Retry-After: 0` from being polled without a pause. */
const shortestPauseMs = 10;
const missingPolls = 3;

/** [POLL-1] [POLL-2] Starts an operation and polls it to completion. Every part is a journaled step, so that a crash loses nothing. */
export async function pollOperation({ operation, profile, args, context, send }: PollInput): Promise<ToolOutput> {
  const { steps, signal } = context;
  if (steps === undefined) throw new CribError('INTERNAL', 'A long-running operation was called without a journal for its steps');
  const { max_attempts: most } = profile;
  const start = startRequest(operation, args, context.callId);
  const begun = (await steps.run('start', { repeatable: start.repeatable }, async () =>
    forJournal(await beginOperation({ operation, profile, args: start.args, send })),
  )) as unknown as Begun;
  if (begun.kind === 'ended') return begun.output;

  const url = new URL(begun.url);
  let last: Waiting = begun;
  let wasThere = false;
  for (let poll = 1; poll <= most; poll++) {
    // Without a total: the allowed number of polls says nothing about the progress of the operation.
    context.progress({ progress: poll - 1, message: `${last.state}${checkedText(poll - 1, most)}` });
    await steps.sleep(`pause ${poll}`, pauseAfter(last, poll, profile), signal);
    const mayBeMissing = !wasThere && poll <= missingPolls;
    const look = (await steps.run(`poll ${poll}`, { repeatable: true }, async () =>
      forJournal(await lookAgain({ url, server: operation.server, profile, send, signal, mayBeMissing })),
    )) as unknown as Look;
    if (look.kind === 'ended') return look.output;
    wasThere ||= look.status !== null;
    last = look;
  }
  throw new CribError(
    'SERVICE_UNAVAILABLE',
    `${operation.method} ${operation.path} timed out after ${most} polls; the last state was: ${last.state}. The operation may still finish: check ${begun.url} before you start it again`,
    { retryable: false, ...(last.status === null ? {} : { upstreamStatus: last.status }), details: { state: last.state } },
  );
}

function checkedText(polls: number, most: number): string {
  return polls === 0 ? '' : ` (checked ${polls === 1 ? 'once' : `${polls} times`}, at most ${most})`;
}

function pauseAfter({ pause_ms }: Waiting, poll: number, profile: PollProfile): number {
  if (pause_ms === null) return pauseBefore(poll, profile);
  return Math.min(Math.max(pause_ms, shortestPauseMs), profile.max_interval_ms);
}

/** The value is plain JSON; optional fields that are missing in it are missing in the journal, too. */
function forJournal(value: Begun | Look): JsonObject {
  return value as unknown as JsonObject;
}
