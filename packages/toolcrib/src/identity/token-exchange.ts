import { hash } from 'node:crypto';
import { CribError } from '../model/crib-error.ts';
import { openInbound, type InboundToken } from '../model/inbound-token.ts';
import { NoCredentialError } from '../model/named-errors.ts';
import { noObserver, type Observer } from '../model/observer.ts';
import type { Principal } from '../model/principal.ts';
import type { UpstreamSecret } from '../model/upstream-secret.ts';
import { checkAddress } from '../net/check-address.ts';
import type { Egress } from '../net/egress.ts';
import type { HttpClient } from '../net/http-client.ts';
import { acceptExchangedToken } from './accept-exchanged-token.ts';
import { createExchangeGuard } from './exchange-guard.ts';
import { inboundTokenOf } from './inbound-token-of.ts';
import { issuerOrigins } from './issuer-config.ts';
import { RecentMap } from '../model/recent-map.ts';
import { requestExchange, type ExchangeTerms } from './request-exchange.ts';
import type { TrustedIssuer } from './trusted-issuers.ts';

/** The tokens that one caller sends to one service. */
interface ExchangedTokens {
  /** At once where it is cached. */
  get(): UpstreamSecret | Promise<UpstreamSecret>;
  /** Reports that the server does not accept a token. True when there is another one now. */
  refused(token: string): Promise<boolean>;
}

export interface TokenExchange {
  tokensFor(principal: Principal, terms: ExchangeTerms): ExchangedTokens;
  close(): Promise<void>;
}

interface TokenExchangeInput {
  egress: Egress;
  issuerOf(issuer: string): TrustedIssuer | undefined;
  observer?: Pick<Observer, 'tokenExchanged'> | undefined;
  now?: () => number;
  maxKept?: number;
}

/** A token is renewed this long before it expires, so that it does not expire on the way. */
const earlyMs = 30_000;
/** A server that refuses every token must not cause an exchange with every call. */
const renewEveryMs = 10_000;

/** [ID-3] Exchanges callers' tokens for tokens that are meant for one upstream service, and caches them. */
export function createTokenExchange({
  egress,
  issuerOf,
  observer = noObserver,
  now = Date.now,
  maxKept = 10_000,
}: TokenExchangeInput): TokenExchange {
  const kept = new RecentMap<{ token: UpstreamSecret; until: number }>(maxKept);
  const renewedAt = new RecentMap<number>(maxKept);
  const underWay = new Map<string, Promise<UpstreamSecret>>();
  const clients = new Map<string, HttpClient>();
  const guard = createExchangeGuard({ now });

  function clientFor({ config }: TrustedIssuer, { origin }: URL): HttpClient {
    const key = `${config.issuer} ${origin}`;
    const client = clients.get(key) ?? egress.trusting(issuerOrigins([config])).httpClient({ origin, maxConnections: 32 });
    clients.set(key, client);
    return client;
  }

  async function obtain(principal: Principal, subject: InboundToken, issuer: TrustedIssuer, terms: ExchangeTerms) {
    const { audience, clientId } = terms;
    const place = JSON.stringify([principal.issuer, clientId, audience]);
    const pass = guard.enter(place, principal.key, `The token exchange of ${principal.issuer} for ${audience}`);
    let isFault = true;
    try {
      const endpoint = checkAddress(await issuer.tokenEndpoint(), issuer.config.allow_insecure ?? false);
      const answer = await requestExchange({
        terms,
        issuer: principal.issuer,
        endpoint,
        subjectToken: openInbound(subject),
        client: clientFor(issuer, endpoint),
      });
      if (typeof answer !== 'string') {
        ({ isFault } = answer);
        throw answer.error;
      }
      isFault = false;
      const accepted = await acceptExchangedToken(answer, { principal, issuer, audience, now });
      pass.answered();
      return accepted;
    } catch (error) {
      if (isFault) {
        pass.failed(messageOf(error));
        issuer.forgetTokenEndpoint();
      } else pass.answered();
      throw error;
    }
  }

  async function exchange(key: string, principal: Principal, terms: ExchangeTerms): Promise<UpstreamSecret> {
    const began = performance.now();
    try {
      const subject = inboundTokenOf(principal, now());
      const issuer = trusted(principal, terms.audience);
      const { token, expiresAt } = await obtain(principal, subject, issuer, terms);
      // Cached for longer than the caller's own token, it would outlive the right to it.
      const until = Math.min(expiresAt, principal.expiresAt) - earlyMs;
      if (until > now()) kept.set(key, { token, until });
      observer.tokenExchanged('exchanged', performance.now() - began);
      return token;
    } catch (error) {
      const failure = toNoCredential(error, principal.issuer);
      observer.tokenExchanged(failure.code === 'SERVICE_UNAVAILABLE' ? 'failed' : 'denied', performance.now() - began);
      throw failure;
    }
  }

  function trusted({ issuer: name }: Principal, audience: string): TrustedIssuer {
    const issuer = issuerOf(name);
    if (issuer === undefined) throw new NoCredentialError('SERVICE_UNAVAILABLE', `The issuer ${name} is not configured here`);
    if (![issuer.config.audience].flat().includes(audience)) return issuer;
    const message = `The audience ${audience} is Toolcrib's own: a service that is sent such a token could use it here. Give the source another audience`;
    throw new NoCredentialError('SERVICE_UNAVAILABLE', message, { retryable: false });
  }

  return {
    tokensFor(principal, terms) {
      const key = keyOf(principal, terms);
      function get(): UpstreamSecret | Promise<UpstreamSecret> {
        const known = kept.get(key);
        if (known !== undefined && now() < known.until) {
          observer.tokenExchanged('cached', 0);
          return known.token;
        }
        const running = underWay.get(key) ?? exchange(key, principal, terms).finally(() => underWay.delete(key));
        underWay.set(key, running);
        return running;
      }
      return {
        get,
        async refused(token) {
          const known = kept.get(key)?.token;
          if (known === token || (known === undefined && !underWay.has(key))) {
            if (now() - (renewedAt.get(key) ?? -renewEveryMs) < renewEveryMs) return false;
            renewedAt.set(key, now());
            kept.delete(key);
          }
          return (await get()) !== token;
        },
      };
    },
    async close() {
      await Promise.all([...clients.values()].map((client) => client.destroy()));
    },
  };
}

/** Everything that goes into the exchange: two agents of one user never share a token, nor do an old and a new client secret. */
function keyOf({ issuer, subject, token }: Principal, { audience, clientId, clientSecret, scope = '' }: ExchangeTerms): string {
  const scopes = scope.split(' ').filter((name) => name !== '');
  return hash('sha256', JSON.stringify([issuer, subject, token?.digest, audience, scopes.toSorted(), clientId, clientSecret]), 'base64');
}

/** [ID-5] Any other failure on the way is the operator's to fix, and says nothing about the source. */
function toNoCredential(error: unknown, issuer: string): CribError {
  if (error instanceof NoCredentialError) return error;
  const { retryAfterMs } = error instanceof CribError ? error : {};
  return new NoCredentialError('SERVICE_UNAVAILABLE', `No token from ${issuer}: ${messageOf(error)}`, { cause: error, retryAfterMs });
}

function messageOf(error: unknown): string {
  return error instanceof CribError ? error.message : 'something failed inside Toolcrib';
}
