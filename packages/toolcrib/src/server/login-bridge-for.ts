import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Crib } from '../crib.ts';
import { createHostGuard, type HostGuardConfig } from '../http/browser-guard.ts';
import type { DevIssuer } from '../identity/development/dev-issuer.ts';
import { issuerOrigins, type IssuerConfig } from '../identity/issuer-config.ts';
import type { TokenVerifier } from '../identity/verify-token.ts';
import { bridgeTimes, type LoginBridgeConfig } from '../login-bridge/bridge-config.ts';
import type { LoginBridge, LoginBridgeInput } from '../login-bridge/open-login-bridge.ts';
import { CribError } from '../model/crib-error.ts';
import { isLoopbackHost } from '../net/is-loopback-host.ts';
import type { ServeConfig } from './server-config.ts';

interface LoginBridgeForInput {
  config: ServeConfig;
  crib: Crib;
  verifier: TokenVerifier;
  issuers: readonly IssuerConfig[];
  publicUrl: string;
  guard: HostGuardConfig;
  closing: AbortSignal;
  logger: Logger;
  /** Of a server in development. */
  developmentIssuer: DevIssuer | undefined;
}

/** [LOGIN-3] The login bridge, loaded only where it is on. */
export async function loginBridgeFor(input: LoginBridgeForInput): Promise<LoginBridge | undefined> {
  const { config, crib, publicUrl, closing, logger, developmentIssuer } = input;
  const { loginBridge: asked } = config;
  const isOpen = config.mcpDoor ?? developmentIssuer !== undefined;
  if (asked === 'off' || !isOpen || (asked === undefined && developmentIssuer === undefined)) return undefined;
  const { openLoginBridge } = await import('../login-bridge/open-login-bridge.ts');
  const settings: Partial<LoginBridgeConfig> = asked ?? {};
  const hosts = createHostGuard(input.guard);
  const bridge = await openLoginBridge({
    ...crib,
    ...(asked === undefined ? await inDevelopment(input) : await withCompany(input, asked)),
    publicUrl,
    fetchDocument: crib.egress.fetchDocument,
    times: bridgeTimes(settings),
    clients: settings.clients ?? [],
    registration: settings.registration ?? true,
    clientDocuments: settings.client_documents ?? true,
    hostRefusal: (host) => hosts(host, undefined),
    closing,
    warn: (message, error) => logger.warn({ err: error }, message),
  });
  crib.onChanged(async (topics) => {
    if (topics.has('login')) await bridge.changed();
  });
  return bridge;
}

type Signing = Pick<LoginBridgeInput, 'signIn' | 'verifyProvider'>;

async function inDevelopment({ config, verifier, developmentIssuer: issuer }: LoginBridgeForInput): Promise<Signing> {
  if (issuer === undefined) throw new CribError('INTERNAL', 'Only a server in development signs people in by itself');
  const { createDevelopmentSignIn } = await import('../login-bridge/development-sign-in.ts');
  const development = createDevelopmentSignIn({ issuer, secretFile: join(config.dataDir, 'dev-secret'), now: Date.now });
  return { signIn: { development }, verifyProvider: { verify: ({ access_token: token }) => verifier.verify(token) } };
}

async function withCompany({ crib, verifier, issuers, publicUrl }: LoginBridgeForInput, asked: LoginBridgeConfig): Promise<Signing> {
  const trusted = asked.issuer === undefined ? issuers[0] : issuers.find(({ issuer }) => issuer === asked.issuer);
  if (trusted === undefined)
    throw new CribError('VALIDATION_ERROR', 'login_bridge needs one of the configured issuers', { field: 'login-bridge' });
  const { issuer, allow_insecure: allowInsecure = false } = trusted;
  const [{ createCompanySignIn }, { createProviderPrincipals }, { clientProof }] = await Promise.all([
    import('../login-bridge/company-sign-in.ts'),
    import('../login-bridge/provider-principal.ts'),
    import('../login-bridge/client-secret.ts'),
  ]);
  const proof = await clientProof(asked, { env: process.env, secretOf: crib.secretOf });
  const isLocal = isLoopbackHost(new URL(issuer).hostname);
  const request = crib.egress.trusting(issuerOrigins([trusted])).guardedFetch({ allowInsecure, allowLoopback: isLocal });
  const company = createCompanySignIn({
    config: asked,
    issuer,
    allowInsecure: allowInsecure || isLocal,
    proof,
    callback: `${publicUrl}/login/callback`,
    request,
    now: Date.now,
  });
  const { client_id: clientId, principal_from: principalFrom = 'access_token' } = asked;
  return {
    signIn: { company, logout: { issuer, clientId, verifier } },
    verifyProvider: createProviderPrincipals({ verifier, issuer, clientId, principalFrom }),
  };
}
