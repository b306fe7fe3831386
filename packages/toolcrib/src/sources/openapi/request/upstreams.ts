import { createClientCredentialTokens } from '../../../identity/client-credentials.ts';
import { RecentMap } from '../../../identity/recent-map.ts';
import { isPerUser } from '../../../model/credential.ts';
import { CribError } from '../../../model/crib-error.ts';
import type { Principal } from '../../../model/principal.ts';
import type { OpenApiSource } from '../../../model/source.ts';
import type { Credential } from '../../../model/source-definition.ts';
import type { Egress } from '../../../net/egress.ts';
import type { HttpClient } from '../../../net/http-client.ts';
import { createRedactor, type Redactor } from '../../../secrets/redactor.ts';
import type { EnvironmentInput } from '../../upstream/environment.ts';
import { bothRedactors, redactError } from '../../upstream/redacted.ts';
import { remoteCredentials } from '../../upstream/remote-credentials.ts';
import type { HttpCredentials } from '../../upstream/request-with-credentials.ts';
import { resolveCredential, type TokenSources } from '../../upstream/resolve-credential.ts';
import { standingOf, type Standing } from '../../upstream/standing.ts';

/** One origin as somebody speaks to it. */
export interface Upstream {
  client: HttpClient;
  credentials: HttpCredentials;
  redactor: Redactor;
}

export interface UpstreamsInput extends Omit<TokenSources, 'clients'> {
  source: OpenApiSource;
  egress: Egress;
  /** [ENV-1] With what the values of a source are filled in. */
  resolvingFor(sourceId: string): EnvironmentInput & { redactor: Redactor };
}

export interface Upstreams {
  /** At once for whoever has been here before. Nobody gets what was made for anybody else. */
  of(origin: string, caller: Principal | 'public'): Upstream | Promise<Upstream>;
  /** An origin to which a redirect leads: it gets nothing of ours. */
  stranger(origin: string): Upstream;
  /** What was sent is not accepted any more: whoever comes next has it filled in anew. */
  refused(upstream: Upstream): void;
  /** [ID-5] Nothing that was made for this owner is used again. */
  endSessionsOf(owner: string): void;
  /** [ENV-1] Nothing that was filled in before is used again. */
  secretsChanged(): void;
  close(): Promise<void>;
}

interface OfUser {
  standing: Standing;
  upstream: Upstream;
}

/** How many users' credentials are kept filled in. */
const mostUsers = 1000;
/** A service may repeat a token for a while after it was given another. */
const tokensRemembered = 20;

/** [OAS-4] [ID-2] As whom the origins of a source are spoken to. Credentials are filled in once, and not with every call. */
export function createUpstreams(input: UpstreamsInput): Upstreams {
  const { source, egress } = input;
  const { definition } = source;
  const tokenSources = { ...input, clients: createClientCredentialTokens({ egress }) };
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
    // Where it is sent is what counts, whether the document says so or the registration.
    const sent = { ...definition, server_url: origin };
    try {
      const credential = await resolveCredential(chosen, { ...tokenSources, source, definition: sent, resolving, principal });
      const credentials = await remoteCredentials({ definition: sent, credential, resolving, redactor: own });
      return { client, credentials, redactor: credential.type === 'tokens' ? bothRedactors(resolving.redactor, own) : resolving.redactor };
    } catch (error) {
      throw error instanceof CribError ? redactError(redactError(error, resolving.redactor), own) : error;
    }
  }

  /** Opened by whoever asks first; one that could not be is tried again by the next. */
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

  function ofUser(origin: string, principal: Principal, standing: Standing): Upstream | Promise<Upstream> {
    const key = `${standing.key}\n${origin}`;
    const known = ofUsers.get(key);
    if (known !== undefined && known.standing.revision === standing.revision && Date.now() < known.standing.until) return known.upstream;
    return open(origin, definition.credential, principal).then((upstream) => {
      ofUsers.set(key, { standing, upstream });
      return upstream;
    });
  }

  return {
    of(origin, caller) {
      if (caller === 'public') return sharedOf(`public\n${origin}`, origin, { type: 'none' });
      if (!perUser) return sharedOf(origin, origin, definition.credential);
      const standing = standingOf({ source, principal: caller, connections: input.connections, speakers: input.speakers });
      return standing instanceof Promise ? standing.then((found) => ofUser(origin, caller, found)) : ofUser(origin, caller, standing);
    },
    stranger: (origin) => ({ client: clientOf(origin), credentials: {}, redactor: input.resolvingFor(source.id).redactor }),
    refused(upstream) {
      for (const [key, known] of shared) if (known === upstream) shared.delete(key);
    },
    endSessionsOf(owner) {
      // Looking one up may move it, so that they are named beforehand.
      const keys = [...ofUsers.keys()];
      for (const key of keys) if (ofUsers.get(key)?.standing.owner === owner) ofUsers.delete(key);
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
