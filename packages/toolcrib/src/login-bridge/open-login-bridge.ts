import type { FastifyInstance, FastifyRequest } from 'fastify';
import { errors, type Provider } from 'oidc-provider';
import { callerAddress } from '../http/caller-address.ts';
import type { TokenVerifier } from '../identity/verify-token.ts';
import { CribError } from '../model/crib-error.ts';
import type { FetchDocument } from '../net/fetch-document.ts';
import { createGate, type Gate } from '../resilience/gate.ts';
import type { Seals } from '../secrets/seals.ts';
import type { Store } from '../store/store.ts';
import { createAuthorizationServer } from './authorization-server.ts';
import { addBackchannelLogout } from './backchannel-logout.ts';
import { bridgeAddress } from './bridge-address.ts';
import type { BridgeTimes, FixedClient } from './bridge-config.ts';
import { openBridgeKeys } from './bridge-keys.ts';
import { createBridgeTokens, type BridgeTokens } from './bridge-tokens.ts';
import { bridgeUpkeep } from './bridge-upkeep.ts';
import { createClientDocuments } from './client-documents.ts';
import { addClientRoutes } from './client-routes.ts';
import { createClientRegistration } from './client-registration.ts';
import type { CompanySignIn } from './company-sign-in.ts';
import { createCompleteLogin } from './complete-login.ts';
import { ConsentRoutes } from './consent-routes.ts';
import type { DevelopmentSignIn } from './development-sign-in.ts';
import { createFormTokens } from './form-token.ts';
import { createGrantVault } from './grant-vault.ts';
import { LoginGrants } from './login-grants.ts';
import type { VerifyProvider } from './opened-grant.ts';
import { createPendingSignIns } from './pending-sign-ins.ts';
import { createRecordAdapters } from './record-adapter.ts';
import { addServerRoutes } from './server-routes.ts';

/** Where logouts at the provider are believed from; undefined in development. */
interface LogoutSource {
  issuer: string;
  clientId: string;
  verifier: TokenVerifier;
}

export interface LoginBridgeInput {
  publicUrl: string;
  store: Store;
  seals: Seals;
  fetchDocument: FetchDocument;
  signIn: { company: CompanySignIn; logout: LogoutSource } | { development: DevelopmentSignIn };
  verifyProvider: VerifyProvider;
  times: BridgeTimes;
  clients: readonly FixedClient[];
  registration: boolean;
  clientDocuments: boolean;
  /** Why a request under this host is not answered. */
  hostRefusal(host: string | undefined): CribError | undefined;
  /** Aborts when the server begins to stop. */
  closing: AbortSignal;
  warn(message: string, error: unknown): void;
  now?: () => number;
}

/** [LOGIN-3] The bridge: what the door asks about tokens, what clients and browsers ask, and what other servers report. */
export interface LoginBridge {
  readonly issuer: string;
  readonly tokens: BridgeTokens;
  addRoutes(app: FastifyInstance): void;
  /** Something about logins was changed on some server. */
  changed(): Promise<void>;
  close(): Promise<void>;
}

/** Each address may begin so many logins; they cost a row each, and perhaps a document to fetch. */
const loginRate = { rate_per_second: 5, burst: 100 };
const clientRate = { rate_per_second: 0.2, burst: 50 };
const documentRate = { rate_per_second: 2, burst: 60 };
const upkeepEveryMs = 3_600_000;
const mostAtOnce = 1000;

export async function openLoginBridge(input: LoginBridgeInput): Promise<LoginBridge> {
  const { store, seals, signIn, verifyProvider, times, clients, warn, now = Date.now } = input;
  const address = bridgeAddress(input.publicUrl);
  const keys = await openBridgeKeys({ store, seals, now, tokenMs: times.accessTokenSeconds * 1000 });
  const vault = createGrantVault({ store, seals, now });
  const signing = 'company' in signIn ? signIn.company : signIn.development;
  const grants = new LoginGrants({ vault, signIn: signing, verifyProvider, recheckMs: times.recheckMs, now, warn });
  const records = store.loginRecords;
  const adapterOf = createRecordAdapters({
    records,
    now,
    onReplay: (grantId) => grants.end(grantId, 'a code or refresh token was used twice'),
    replayed: () => new errors.InvalidGrant('it was used before'),
  });
  const admission = createAdmission(input);
  const fetchDocument = createClientDocuments({ fetchDocument: input.fetchDocument, records, now, warn });
  const onFault = (error: unknown) => warn('The login bridge failed', error);
  const makeProvider = () =>
    createAuthorizationServer({
      ...input,
      address,
      keys,
      adapterOf,
      fetchDocument,
      onFault,
      mayFetch: ({ req }) => admission.mayFetch(req.socket.remoteAddress),
    });
  let provider: Provider = makeProvider();
  const current = () => provider;
  const onKeys = () => void (provider = makeProvider());
  const tokens = createBridgeTokens({ address, keys, grants, now });
  const register = input.registration
    ? createClientRegistration({ store, provider: current, clients: adapterOf('Client'), now })
    : undefined;
  const consent = new ConsentRoutes({
    address,
    provider: current,
    store,
    signing: 'company' in signIn ? { company: signIn.company, pending: createPendingSignIns({ records, seals, now }) } : signIn,
    complete: createCompleteLogin({ provider: current, vault, records, verifyProvider, now }),
    formTokens: createFormTokens(keys),
    fixedClients: new Set(clients.map(({ client_id }) => client_id)),
    idleDays: times.idleDays,
    admit: admission.admit,
    warn,
  });
  let lastSeen = await store.events.lastId(['login']);
  const upkeep = () => bridgeUpkeep({ store, keys, grants, idleDays: times.idleDays, now, onKeys }).catch(onFault);
  const timer = setInterval(() => void upkeep(), upkeepEveryMs).unref();

  return {
    issuer: address.issuer,
    tokens,
    addRoutes(app) {
      void app.register((scope, _options, done) => {
        addServerRoutes(scope, { address, provider: current, admit: admission.admit });
        done();
      });
      void app.register((scope, _options, done) => {
        scope.removeAllContentTypeParsers();
        scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, parsed) => parsed(null, body));
        addClientRoutes(scope, { provider: current, register, tokens, grants, ...admission, onFault });
        consent.addTo(scope);
        if ('logout' in signIn) addBackchannelLogout(scope, { ...signIn.logout, store, grants, now, admit: admission.admit });
        done();
      });
    },
    async changed() {
      const newest = await store.events.lastId(['login']);
      const subjects = await store.events.subjectsAfter(lastSeen, ['login'], mostAtOnce);
      // After so many changes, or where the database was put back, everything is looked at anew.
      if (newest < lastSeen || subjects.length === mostAtOnce) grants.forgetAll();
      else grants.forget(subjects.map(({ subject }) => subject));
      if (await keys.reload()) onKeys();
      lastSeen = newest;
    },
    async close() {
      clearInterval(timer);
      await grants.idle();
    },
  };
}

/** [LOGIN-3] Nobody has to be known to ask these, so each address is held to a rate. */
function createAdmission({ hostRefusal, closing }: LoginBridgeInput) {
  const logins = createGate({ who: 'You', what: 'logins' });
  const newClients = createGate({ who: 'You', what: 'registrations' });
  const documents = createGate({ who: 'You', what: 'logins with new clients' });
  const take = (gate: Gate, key: string, rate: typeof loginRate) => {
    gate.enter(key, rate);
    gate.leave(key, rate);
  };
  return {
    admit(request: FastifyRequest): void {
      if (closing.aborted) throw new CribError('SERVICE_UNAVAILABLE', 'The server is stopping: try again', { retryAfterMs: 1000 });
      const refusal = hostRefusal(request.headers.host);
      if (refusal !== undefined) throw refusal;
      if (request.routeOptions.url === '/login/auth') take(logins, callerAddress(request), loginRate);
    },
    admitClient: (request: FastifyRequest) => take(newClients, callerAddress(request), clientRate),
    mayFetch(address = ''): boolean {
      try {
        take(documents, address, documentRate);
        return true;
      } catch {
        return false;
      }
    },
  };
}
