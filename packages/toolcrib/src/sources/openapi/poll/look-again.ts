import { CribError } from '../../../model/crib-error.ts';
import { NoCredentialError, ProtocolError } from '../../../model/named-errors.ts';
import type { PollProfile } from '../../../model/poll-profile.ts';
import { finished, lookAt, waiting, type Look, type Waiting } from './look.ts';
import type { OperationAnswer, SendOperation } from './operation-answer.ts';
import { within } from './status-url.ts';

interface LookInput {
  url: URL;
  /** Of the operation; nothing is asked outside its origin. */
  server: string;
  profile: PollProfile;
  send: SendOperation;
  signal: AbortSignal;
  /** True while nobody can say that it was ever there: some services are not that quick. */
  mayBeMissing: boolean;
}

const maxRedirects = 5;
/** RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4: not now. */
const laterStatuses = new Set([408, 425, 429]);

/** [POLL-1] Asks once what has become of it. A service that is in trouble for a moment is asked again later. */
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
    if (redirects === maxRedirects) throw new ProtocolError(`${url.origin} redirects without end`, { upstreamStatus: answer.status });
    // RFC 9110 §15.4.4: the result is somewhere else. The others only say that the state is.
    wasSentOn ||= answer.status === 302 || answer.status === 303;
    answer = await send({ url: within(server, answer.headers['location'] ?? '', answer.url) });
  }
  return lookAt(answer, profile) ?? lookWithoutState(answer, profile, wasSentOn);
}

/** HTTP itself says it, where the service was not described any further: 202 until it is done, and then the result. */
function lookWithoutState(answer: OperationAnswer, profile: PollProfile, wasSentOn: boolean): Look {
  const isDone = answer.status !== 202 && (wasSentOn || profile.status_url_template === undefined);
  return isDone ? finished(answer.output, profile) : waiting(`no ${profile.status_field_path} yet`, answer);
}

/** What is over by itself, as a state in between. */
function troubleOf(error: unknown, mayBeMissing: boolean): Waiting | undefined {
  if (!(error instanceof CribError) || error instanceof ProtocolError || error instanceof NoCredentialError) return undefined;
  const { code, upstreamStatus: status, retryAfterMs } = error;
  const said = (state: string): Waiting => ({ kind: 'waiting', state, status: null, pause_ms: retryAfterMs ?? null });
  if (status === undefined) return code === 'NETWORK_ERROR' || code === 'SERVICE_UNAVAILABLE' ? said('not reached') : undefined;
  if (status === 404 && mayBeMissing) return said('not there yet');
  return status >= 500 || laterStatuses.has(status) ? said(`answered with ${status}`) : undefined;
}
