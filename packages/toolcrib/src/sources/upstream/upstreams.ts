import { RecentMap } from '../../model/recent-map.ts';
import { isPerUser } from '../../model/credential.ts';
import { CribError } from '../../model/crib-error.ts';
import type { Principal } from '../../model/principal.ts';
import type { DefinedSource } from '../../model/source.ts';
import type { Credential } from '../../model/source-definition.ts';
import type { Egress } from '../../net/egress.ts';
import type { HttpClient } from '../../net/http-client.ts';
import { createRedactor, type Redactor } from '../../secrets/redactor.ts';
import type { EnvironmentInput } from './environment.ts';
import { bothRedactors, redactError } from './redacted.ts';
import { remoteCredentials } from './remote-credentials.ts';
import type { HttpCredentials } from './request-with-credentials.ts';
import { resolveCredential, type TokenSources } from './resolve-credential.ts';
import { sessionKeyOf, type SessionKey } from './session-key.ts';

/** A client for one origin, with the credentials to send there. */
export interface Upstream {
  client: HttpClient;
  credentials: HttpCredentials;
  redactor: Redactor;
}

export interface UpstreamsInput extends TokenSources {
  source: DefinedSource;
  egress: Egress;
  /** [ENV-1] Everything needed to fill in the values of a source. */
  resolvingFor(sourceId: string): EnvironmentInput & { redactor: Redactor };
}

export interface Upstreams {
  /** Returns no promise if the upstream is cached. No user gets an upstream that was made for another user. */
  of(origin: string, caller: Principal | 'public'): Upstream | Promise<Upstream>;
  /** For an origin that a redirect leads to: it gets no headers or credentials of ours. */
  stranger(origin: string): Upstream;
  /** The credential was refused: the next call resolves it again. */
  refused(upstream: Upstream): void;
  /** [ID-5] Drops everything that was made for this owner. */
  endSessionsOf(owner: string): void;
  /** [ENV-1] Drops everything that was filled in with the old values. */
  secretsChanged(): void;
  close(): Promise<void>;
}

interface OfUser {
  sessionKey: SessionKey;
  upstream: Upstream;
}

/** How many upstreams of single users are cached. */
const mostUsers = 1000;
/** Old tokens to redact: a service may repeat one for a while after it got the next. */
const tokensRemembered = 20;

/** [OAS-4] [ID-2] The credentials for the origins of a source. They are resolved once, not with every call. */
export function createUpstreams(input: UpstreamsInput): Upstreams {
  const { source, egress } = input;
  const { definition } = source;
  const perUser = isPerUser(definition.credential);
  const clients = new Map<string, HttpClient>();
  const shared = new Map<string, Upstream | Promise<Upstream>>();
  const ofUsers = new RecentMap<OfUser>(mostUsers);
  let closed = false;

  function clientOf(origin: string): HttpClient {
    if (closed) throw new CribError('SERVICE_UNAVAILABLE', 'The source is not running');
    let client = clients.get(origin);
    if (client === undefined) {
      client = egress.httpClient({ origin: egress.checkAddress(origin, definition.allow_insecure).origin });
      clients.set(origin, client);
    }
    return client;
  }

  async function open(origin: string, chosen: Credential, principal?: Principal): Promise<Upstream> {
    const client = clientOf(origin);
    const resolving = input.resolvingFor(source.id);
    const own = createRedactor({ most: tokensRemembered });
    // The address that requests go to counts, whether the document or the registration names it.
    const sent = { ...definition, server_url: origin };
    try {
      const credential = await resolveCredential(chosen, { ...input, source, definition: sent, resolving, principal });
      const credentials = await remoteCredentials({ definition: sent, credential, resolving, redactor: own });
      return { client, credentials, redactor: credential.type === 'tokens' ? bothRedactors(resolving.redactor, own) : resolving.redactor };
    } catch (error) {
      throw error instanceof CribError ? redactError(redactError(error, resolving.redactor), own) : error;
    }
  }

  /** Opened by the first call. If that fails, the next call tries again. */
  function sharedOf(key: string, origin: string, chosen: Credential): Upstream | Promise<Upstream> {
    const known = shared.get(key);
    if (known !== undefined) return known;
    const opening = open(origin, chosen);
    shared.set(key, opening);
    opening.then(
      (upstream) => shared.get(key) === opening && shared.set(key, upstream),
      () => shared.get(key) === opening && shared.delete(key),
    );
    return opening;
  }

  function ofUser(origin: string, principal: Principal, sessionKey: SessionKey): Upstream | Promise<Upstream> {
    const key = `${sessionKey.key}\n${origin}`;
    const known = ofUsers.get(key);
    if (known !== undefined && known.sessionKey.revision === sessionKey.revision && Date.now() < known.sessionKey.until)
      return known.upstream;
    return open(origin, definition.credential, principal).then((upstream) => {
      ofUsers.set(key, { sessionKey, upstream });
      return upstream;
    });
  }

  return {
    of(origin, caller) {
      if (caller === 'public') return sharedOf(`public\n${origin}`, origin, { type: 'none' });
      if (!perUser) return sharedOf(origin, origin, definition.credential);
      const sessionKey = sessionKeyOf({
        source,
        principal: caller,
        connections: input.connections,
        connectionOwners: input.connectionOwners,
      });
      return sessionKey instanceof Promise ? sessionKey.then((found) => ofUser(origin, caller, found)) : ofUser(origin, caller, sessionKey);
    },
    stranger: (origin) => ({ client: clientOf(origin), credentials: {}, redactor: input.resolvingFor(source.id).redactor }),
    refused(upstream) {
      for (const [key, known] of shared) if (known === upstream) shared.delete(key);
    },
    endSessionsOf(owner) {
      // `get` may reorder the map, so its keys are copied first.
      const keys = [...ofUsers.keys()];
      for (const key of keys) if (ofUsers.get(key)?.sessionKey.owner === owner) ofUsers.delete(key);
    },
    secretsChanged() {
      shared.clear();
      ofUsers.clear();
    },
    async close() {
      closed = true;
      shared.clear();
      ofUsers.clear();
      await Promise.all([...clients.values()].map((client) => client.destroy()));
    },
  };
}
