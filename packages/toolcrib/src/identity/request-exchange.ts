import { z } from 'zod';
import { CribError } from '../model/crib-error.ts';
import type { InboundText } from '../model/inbound-token.ts';
import { parsedJson } from '../model/json.ts';
import { NoCredentialError } from '../model/named-errors.ts';
import type { HttpClient } from '../net/http-client.ts';
import { readBody } from '../net/read-body.ts';
import { explainExchangeRefusal, type ExchangeRefusal } from './explain-exchange-refusal.ts';

/** The audience, and the client that asks for it. */
export interface ExchangeTerms {
  readonly audience: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string | undefined;
}

interface ExchangeRequest {
  terms: ExchangeTerms;
  issuer: string;
  endpoint: URL;
  subjectToken: InboundText;
  client: HttpClient;
}

const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange';
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';
const jwtType = 'urn:ietf:params:oauth:token-type:jwt';
const answerSchema = z.object({
  access_token: z.string().min(1).max(16_384),
  token_type: z
    .string()
    .regex(/^(bearer|n_a)$/i)
    .optional(),
  issued_token_type: z.enum([accessTokenType, jwtType]).optional(),
});
const maxAnswerBytes = 65_536;
const timeoutMs = 10_000;

/** [ID-3] RFC 8693 §2: requests a token for exactly one audience. Returns the token, or the reason why there is none. */
export async function requestExchange(request: ExchangeRequest): Promise<string | ExchangeRefusal> {
  const { terms, issuer, endpoint, subjectToken, client } = request;
  const { audience, clientId, clientSecret, scope } = terms;
  const fault = (why: string, cause?: unknown): ExchangeRefusal => ({
    error: new NoCredentialError('SERVICE_UNAVAILABLE', `No token for ${audience} from ${issuer}: ${why}`, { cause }),
    isFault: true,
  });
  // RFC 6749 §2.3.1: both are form-encoded before they are joined.
  const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64');
  const form = new URLSearchParams({
    grant_type: grantType,
    subject_token: subjectToken,
    subject_token_type: accessTokenType,
    requested_token_type: accessTokenType,
    audience,
    ...(scope === undefined ? {} : { scope }),
  });
  const signal = AbortSignal.timeout(timeoutMs);
  let status: number;
  let body: string;
  try {
    const response = await client.request({
      method: 'POST',
      url: endpoint,
      headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: form.toString(),
      signal,
    });
    status = response.status;
    body = await readBody(response, maxAnswerBytes);
  } catch (error) {
    if (signal.aborted) return fault(`it did not answer within ${timeoutMs / 1000} s`, error);
    return fault(error instanceof CribError ? error.message : 'it cannot be reached', error);
  }
  if (status !== 200) return explainExchangeRefusal(status, body, { issuer, audience, clientId });
  const parsed = answerSchema.safeParse(parsedJson(body));
  return parsed.success ? parsed.data.access_token : fault('its answer has no access token');
}
