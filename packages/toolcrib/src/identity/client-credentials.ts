import { hash } from 'node:crypto';
import { z } from 'zod';
import { CribError } from '../model/crib-error.ts';
import { parsedJson } from '../model/json.ts';
import { RecentMap } from '../model/recent-map.ts';
import { upstreamSecret, type UpstreamSecret } from '../model/upstream-secret.ts';
import type { Egress } from '../net/egress.ts';
import { readBody } from '../net/read-body.ts';
import type { ServiceIdentity } from './service-identity.ts';

export interface ClientCredentialTokens {
  /** A token that does not expire soon. */
  get(credentials: ServiceIdentity): Promise<UpstreamSecret>;
  /** Forgets a token that was refused. */
  drop(credentials: ServiceIdentity): void;
}

const answerSchema = z.object({ access_token: z.string().min(1), expires_in: z.number().positive().optional() });
const maxAnswerBytes = 65_536;
const timeoutMs = 10_000;
/** A token is renewed this long before it expires, so that it does not expire on the way. */
const earlyMs = 30_000;
const unknownLifeMs = 60_000;
const mostTokens = 2000;

/**
 * [MCP-12] RFC 6749 §4.4, and its kin. One cache serves every source. Its key is everything that goes into the request: two sources share a
 * token only where client, secret and scope are the same. Callers who ask at the same time share one request.
 */
export function createClientCredentialTokens({ egress, now = Date.now }: { egress: Egress; now?: () => number }): ClientCredentialTokens {
  const tokens = new RecentMap<{ token: Promise<UpstreamSecret>; until: number }>(mostTokens);
  return {
    get(credentials) {
      const key = keyOf(credentials);
      const known = tokens.get(key);
      if (known !== undefined && known.until > now()) return known.token;
      const entry = { token: Promise.resolve(upstreamSecret('')), until: Number.POSITIVE_INFINITY };
      entry.token = request(egress, credentials).then(({ access_token, expires_in }) => {
        const lifeMs = expires_in === undefined ? unknownLifeMs : expires_in * 1000;
        entry.until = now() + Math.max(lifeMs - earlyMs, lifeMs / 2);
        return upstreamSecret(access_token);
      });
      entry.token.catch(() => tokens.get(key) === entry && tokens.delete(key));
      tokens.set(key, entry);
      return entry.token;
    },
    drop: (credentials) => tokens.delete(keyOf(credentials)),
  };
}

function keyOf({ serverUrl, ...asked }: ServiceIdentity): string {
  // Where the token endpoint is known, the token is the same for every server.
  const place = asked.tokenUrl ?? serverUrl;
  return hash('sha256', JSON.stringify([place, ...Object.entries(asked).toSorted(([a], [b]) => (a < b ? -1 : 1))]), 'base64');
}

async function request(egress: Egress, credentials: ServiceIdentity): Promise<z.output<typeof answerSchema>> {
  const { tokenUrl, clientId, clientSecret, assertion, scope, allowInsecure } = credentials;
  if (tokenUrl === undefined || clientSecret === undefined || assertion !== undefined) {
    // Loaded on first use: it needs the SDK, which a source with an ordinary secret does not.
    return (await import('./oauth/request-service-token.ts')).requestServiceToken(egress, credentials);
  }
  const url = egress.checkAddress(tokenUrl, allowInsecure);
  const client = egress.httpClient({ origin: url.origin, maxConnections: 1 });
  try {
    // RFC 6749 §2.3.1: both are form-encoded before they are joined.
    const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64');
    const response = await client.request({
      method: 'POST',
      url,
      headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) }).toString(),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const body = await readBody(response, maxAnswerBytes);
    // [ID-5] Only the operator can fix this, never the caller.
    if (response.status !== 200) throw refused(url, `it answered ${response.status}${wordsOf(body)}`, response.status);
    const parsed = answerSchema.safeParse(parsedJson(body));
    if (!parsed.success) throw refused(url, 'its answer has no access token');
    return parsed.data;
  } finally {
    await client.destroy();
  }
}

const refusalSchema = z.object({ error: z.string().min(1), error_description: z.string().default('') });

/** RFC 6749 §5.2: the server's own explanation, short and on one line. */
function wordsOf(body: string): string {
  const parsed = refusalSchema.safeParse(parsedJson(body));
  if (!parsed.success) return '';
  const words = [parsed.data.error, parsed.data.error_description].filter((part) => part !== '').join(': ');
  return ` (${words
    .replaceAll(/[^\x20-\x7e\u00a0-\uffff]+/g, ' ')
    .slice(0, 300)
    .toWellFormed()})`;
}

function refused(url: URL, reason: string, upstreamStatus?: number): CribError {
  const message = `No token from ${url.origin}${url.pathname}: ${reason}. Check the client id and secret of the source`;
  return new CribError('SERVICE_UNAVAILABLE', message, { retryable: false, upstreamStatus });
}
