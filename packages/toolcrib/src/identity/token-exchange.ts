import { hash } from 'node:crypto';
import { createBreakers, type BreakerPass } from '../model/breakers.ts';
import { CribError } from '../model/crib-error.ts';
import { openInbound, type InboundToken } from '../model/inbound-token.ts';
import { NoCredentialError } from '../model/named-errors.ts';
import type { Principal } from '../model/principal.ts';
import type { UpstreamSecret } from '../model/upstream-secret.ts';
import { checkAddress } from '../net/check-address.ts';
import type { Egress } from '../net/egress.ts';
import type { HttpClient } from '../net/http-client.ts';
import { acceptExchangedToken } from './accept-exchanged-token.ts';
import { inboundTokenOf } from './inbound-token-of.ts';
import { issuerOrigins } from './issuer-config.ts';
import { RecentMap } from './recent-map.ts';
import { requestExchange, type ExchangeTerms } from './request-exchange.ts';
import type { TrustedIssuer } from './trusted-issuers.ts';

/** How a caller came by a token: it was there, it was fetched, the caller may not have it, or there was none to be had. */
export type ExchangeOutcome = 'cached' | 'exchanged' | 'denied' | 'failed';

/** What one caller sends to one service. */
interface ExchangedTokens {
  /** At once where it is there. */
  get(): UpstreamSecret | Promise<UpstreamSecret>;
  /** Told that the server does not accept it. True when there is another now. */
  refused(token: string): Promise<boolean>;
}

export interface TokenExchange {
  tokensFor(principal: Principal, terms: ExchangeTerms): ExchangedTokens;
  close(): Promise<void>;
}

interface TokenExchangeInput {
  egress: Egress;
  issuerOf(issuer: string): TrustedIssuer | undefined;
  onExchange?: ((outcome: ExchangeOutcome, ms: number) => void) | undefined;
  now?: () => number;
  maxKept?: number;
}

/** Asked anew so long before its end that it does not end on the way. */
const earlyMs = 30_000;
/** A server that refuses every token must not make us ask for another with every call. */
const renewEveryMs = 10_000;
/** So many failures in a row of one user, or so many users in a row who failed, and it is left alone for a while: by that user, or by all. */
const ownBreaker = { failures: 5, open_ms: 30_000 };
const sharedBreaker = { failures: 3, open_ms: 30_000 };
const mostFailing = 1000;

/** [ID-3] Exchanges the tokens of callers for such as are meant for one upstream service, and keeps them for a while. */
export function createTokenExchange({ egress, issuerOf, onExchange, now = Date.now, maxKept = 10_000 }: TokenExchangeInput): TokenExchange {
  const kept = new RecentMap<{ token: UpstreamSecret; until: number }>(maxKept);
  const renewedAt = new RecentMap<number>(maxKept);
  const underWay = new Map<string, Promise<UpstreamSecret>>();
  const clients = new Map<string, HttpClient>();
  // Of an issuer, a client and an audience, and of each user of it. What befalls everybody counts, and for all each user counts once, so that
  // nobody can open it for the others [ID-5].
  const breakers = createBreakers({ now });
  const failing = new Map<string, Set<string>>();

  function clientFor({ config }: TrustedIssuer, { origin }: URL): HttpClient {
    const key = `${config.issuer} ${origin}`;
    const client = clients.get(key) ?? egress.trusting(issuerOrigins([config])).httpClient({ origin, maxConnections: 32 });
    clients.set(key, client);
    return client;
  }

  async function obtain(principal: Principal, subject: InboundToken, issuer: TrustedIssuer, terms: ExchangeTerms) {
    const { audience, clientId } = terms;
    const name = `The token exchange of ${principal.issuer} for ${audience}`;
    const place = JSON.stringify([principal.issuer, clientId, audience]);
    const own = breakers.enter(`${place} ${principal.key}`, ownBreaker, name);
    let shared: BreakerPass | undefined;
    let isFault = true;
    try {
      shared = breakers.enter(place, sharedBreaker, name);
      const endpoint = checkAddress(await issuer.tokenEndpoint(), issuer.config.allow_insecure ?? false);
      const subjectToken = openInbound(subject);
      const answer = await requestExchange({
        terms,
        issuer: principal.issuer,
        endpoint,
        subjectToken,
        client: clientFor(issuer, endpoint),
      });
      if (typeof answer !== 'string') {
        ({ isFault } = answer);
        throw answer.error;
      }
      isFault = false;
      const accepted = await acceptExchangedToken(answer, { principal, issuer, audience, now });
      shared?.end({ kind: 'answered' });
      failing.delete(place);
      breakers.forget(`${place} ${principal.key}`);
      return accepted;
    } catch (error) {
      // Left alone: nobody was asked, and nothing is learnt.
      if (shared === undefined) own?.end({ kind: 'nothing' });
      else endFailed(place, principal.key, { own, shared }, isFault ? messageOf(error) : undefined);
      if (shared !== undefined && isFault) issuer.forgetTokenEndpoint();
      throw error;
    }
  }

  /** `reason` says what was the matter where it would have been for anybody. */
  function endFailed(
    place: string,
    user: string,
    passes: { own: BreakerPass | undefined; shared: BreakerPass },
    reason: string | undefined,
  ) {
    if (reason === undefined) {
      passes.shared.end({ kind: 'answered' });
      failing.delete(place);
      breakers.forget(`${place} ${user}`);
      return;
    }
    const users = failing.get(place) ?? new Set();
    const isFirst = !users.has(user);
    if (users.size < mostFailing) failing.set(place, users.add(user));
    passes.own?.end({ kind: 'failed', reason, silent: false });
    passes.shared.end(isFirst ? { kind: 'failed', reason, silent: false } : { kind: 'nothing' });
  }

  async function exchange(key: string, principal: Principal, terms: ExchangeTerms): Promise<UpstreamSecret> {
    const began = performance.now();
    try {
      const subject = inboundTokenOf(principal, now());
      const issuer = trusted(principal, terms.audience);
      const { token, expiresAt } = await obtain(principal, subject, issuer, terms);
      // What could be used after the caller's own token has ended would outlive the right to it.
      const until = Math.min(expiresAt, principal.expiresAt) - earlyMs;
      if (until > now()) kept.set(key, { token, until });
      onExchange?.('exchanged', performance.now() - began);
      return token;
    } catch (error) {
      const failure = toNoCredential(error, principal.issuer);
      onExchange?.(failure.code === 'SERVICE_UNAVAILABLE' ? 'failed' : 'denied', performance.now() - began);
      throw failure;
    }
  }

  function trusted({ issuer: name }: Principal, audience: string): TrustedIssuer {
    const issuer = issuerOf(name);
    if (issuer === undefined) throw new NoCredentialError('SERVICE_UNAVAILABLE', `The issuer ${name} is not configured here`);
    if (![issuer.config.audience].flat().includes(audience)) return issuer;
    const message = `The audience ${audience} is our own: whoever is sent such a token could use it here. Give the source another`;
    throw new NoCredentialError('SERVICE_UNAVAILABLE', message, { retryable: false });
  }

  return {
    tokensFor(principal, terms) {
      const key = keyOf(principal, terms);
      function get(): UpstreamSecret | Promise<UpstreamSecret> {
        const known = kept.get(key);
        if (known !== undefined && now() < known.until) {
          onExchange?.('cached', 0);
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

/** All that decides what comes out: two agents of one user, or a secret that was changed, never share a token. */
function keyOf({ issuer, subject, token }: Principal, { audience, clientId, clientSecret, scope = '' }: ExchangeTerms): string {
  const scopes = scope.split(' ').filter((name) => name !== '');
  return hash('sha256', JSON.stringify([issuer, subject, token?.digest, audience, scopes.toSorted(), clientId, clientSecret]), 'base64');
}

/** [ID-5] Whatever else went wrong on the way, it is the operator's to mend and says nothing about the source. */
function toNoCredential(error: unknown, issuer: string): CribError {
  if (error instanceof NoCredentialError) return error;
  const { retryAfterMs } = error instanceof CribError ? error : {};
  return new NoCredentialError('SERVICE_UNAVAILABLE', `No token from ${issuer}: ${messageOf(error)}`, { cause: error, retryAfterMs });
}

function messageOf(error: unknown): string {
  return error instanceof CribError ? error.message : 'something failed inside Toolcrib';
}
