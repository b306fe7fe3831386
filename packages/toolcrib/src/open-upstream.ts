import type { CribConfig } from './crib-config.ts';
import { createClientCredentialTokens } from './identity/client-credentials.ts';
import { createConnections } from './identity/oauth/connections.ts';
import { createTokenExchange } from './identity/token-exchange.ts';
import type { Egress } from './net/egress.ts';
import type { openStorage } from './open-storage.ts';
import { createRedactor } from './secrets/redactor.ts';
import { createServerLogs } from './sources/upstream/logs/server-logs.ts';
import { createWireLogs } from './sources/upstream/logs/wire-logs.ts';
import { createConnectionOwners } from './sources/upstream/connection-owners.ts';

interface UpstreamInput extends Pick<Awaited<ReturnType<typeof openStorage>>, 'store' | 'keyRing' | 'secrets'> {
  egress: Egress;
}

/** Values, credentials and logs, which every kind of source needs. */
export function openUpstream(config: CribConfig, { store, keyRing, secrets, egress }: UpstreamInput, opened: AsyncDisposableStack) {
  const redactors = createRedactor();
  const connections = createConnections({ store, keyRing, egress });
  const allowedNames = new Set(config.allowedEnvironment);
  const resolvingFor = (sourceId: string) => ({
    secrets,
    sourceId,
    allowedNames,
    baseEnvironment: process.env,
    redactor: redactors.forSource(sourceId),
  });
  const connectionOwners = createConnectionOwners(resolvingFor);
  const exchange = opened.adopt(
    createTokenExchange({ egress, issuerOf: (issuer) => config.issuerOf?.(issuer), observer: config.observer }),
    (exchanging) => exchanging.close(),
  );
  const clientTokens = createClientCredentialTokens({ egress });
  const logs = createServerLogs({ redactors });
  const wireLogs = createWireLogs({ redactors });
  return { redactors, connections, allowedNames, resolvingFor, connectionOwners, exchange, clientTokens, logs, wireLogs };
}
