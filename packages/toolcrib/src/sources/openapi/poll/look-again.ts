import { CribError } from '../../../model/crib-error.ts';
import type { EndSignal } from '../../../model/end-signal.ts';
import { NoCredentialError, ProtocolError } from '../../../model/named-errors.ts';
import type { PollProfile } from '../../../model/poll-profile.ts';
import { finished, lookAt, waiting, type Look, type Waiting } from './look.ts';
import type { OperationAnswer, SendOperation } from './operation-answer.ts';
import { within } from './status-url.ts';

interface LookInput {
  url: URL;
  /** The operation's server; nothing is sent outside its origin. */
  server: string;
  profile: PollProfile;
  send: SendOperation;
  signal: EndSignal;
  /** Whether a 404 still counts as waiting: some services need a moment before the address works. */
  mayBeMissing: boolean;
}

const maxRedirects = 5;
/** RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4: try again later. */
const laterStatuses = new Set([408, 425, 429]);

/** [POLL-1] Polls the state once. A transient failure counts as waiting, so that the next poll tries again. */
export async function lookAgain(input: LookInput): Promise<Look> {
  try {
    return await look(input);
  } catch (error) {
    const trouble = input.signal.aborted ? undefined : troubleOf(error, input.mayBeMissing);
    if (trouble === undefined) throw error;
    return trouble;
  }
}

async function look({ url, server, profile, send }: LookInput): Promise<Look> {
  let answer = await send({ url });
  let wasSentOn = false;
  for (let redirects = 0; answer.status >= 300; redirects++) {
    if (redirects === maxRedirects)
      throw new ProtocolError(`${url.origin} redirected more than ${maxRedirects} times`, { upstreamStatus: answer.status });
    // RFC 9110 §15.4.4: 303 leads to the result; services use 302 for the same. Other redirects only move the status address.
    wasSentOn ||= answer.status === 302 || answer.status === 303;
    answer = await send({ url: within(server, answer.headers['location'] ?? '', answer.url) });
  }
  return lookAt(answer, profile) ?? lookWithoutState(answer, profile, wasSentOn);
}

/** Without a state in the body, HTTP decides: 202 until the operation is done, then the result. */
function lookWithoutState(answer: OperationAnswer, profile: PollProfile, wasSentOn: boolean): Look {
  const isDone = answer.status !== 202 && (wasSentOn || profile.status_url_template === undefined);
  return isDone ? finished(answer.output, profile) : waiting(`no ${profile.status_field_path} yet`, answer);
}

/** A transient failure as a waiting state; undefined for any other failure. */
function troubleOf(error: unknown, mayBeMissing: boolean): Waiting | undefined {
  if (!(error instanceof CribError) || error instanceof ProtocolError || error instanceof NoCredentialError) return undefined;
  const { code, upstreamStatus: status, retryAfterMs } = error;
  const waitingIn = (state: string): Waiting => ({ kind: 'waiting', state, status: null, pause_ms: retryAfterMs ?? null });
  if (status === undefined) return code === 'NETWORK_ERROR' || code === 'SERVICE_UNAVAILABLE' ? waitingIn('not reached') : undefined;
  if (status === 404 && mayBeMissing) return waitingIn('not there yet');
  return status >= 500 || laterStatuses.has(status) ? waitingIn(`answered with ${status}`) : undefined;
}
