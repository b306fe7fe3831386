import type { HttpOperation } from '../../../model/http-operation.ts';
import type { JsonObject } from '../../../model/json.ts';
import { ProtocolError } from '../../../model/named-errors.ts';
import type { PollProfile } from '../../../model/poll-profile.ts';
import { finished, lookAt, waiting, type Ended, type Waiting } from './look.ts';
import type { SendOperation } from './operation-answer.ts';
import { statusUrl } from './status-url.ts';

/** The end of an operation that finished at once, or the address to poll. */
export type Begun = Ended | (Waiting & { url: string });

interface BeginInput {
  operation: HttpOperation;
  profile: PollProfile;
  args: JsonObject;
  send: SendOperation;
}

/** [POLL-1] Sends the request that starts the operation. */
export async function beginOperation({ operation, profile, args, send }: BeginInput): Promise<Begun> {
  const answer = await send({ args });
  const { status, headers, output } = answer;
  const look = lookAt(answer, profile);
  // RFC 9110 §15.3.3: 202 means accepted and not done, whatever state the body names.
  if (look?.kind === 'ended' && status !== 202) return look;
  // A redirect has no body that could fill a template.
  const template = status < 300 ? profile.status_url_template : undefined;
  const url = statusUrl({ operation, template, answer, args });
  if (url !== undefined) return { ...(look?.kind === 'waiting' ? look : waiting('begun', { status, headers })), url: url.href };
  if (look === undefined && status < 300 && status !== 202) return finished(output, profile);
  throw new ProtocolError(
    `${operation.method} ${operation.path} was answered with ${status} and without a Location header, so the operation cannot be polled. Set status_url_template`,
    { upstreamStatus: status },
  );
}
