import type { Crib } from '../crib.ts';
import type { IssuerConfig } from '../identity/issuer-config.ts';
import type { TokenVerifier } from '../identity/verify-token.ts';
import type { Metrics } from '../http/metrics.ts';
import type { MetricsGuard } from '../http/metrics-guard.ts';
import { openApiDocument } from '../http/openapi.ts';
import type { Route } from '../http/route.ts';
import { administeredToolRoutes } from '../http/routes/administered-tools.ts';
import { approvalRoutes } from '../http/routes/approvals.ts';
import { artifactRoutes } from '../http/routes/artifacts.ts';
import { auditRoutes } from '../http/routes/audit.ts';
import { callRoutes } from '../http/routes/calls.ts';
import { configurationRoutes } from '../http/routes/configuration.ts';
import { connectionRoutes } from '../http/routes/connections.ts';
import { eventFeedRoutes } from '../http/routes/event-feed.ts';
import { groupRoutes } from '../http/routes/groups.ts';
import { healthRoutes } from '../http/routes/health.ts';
import { meRoutes } from '../http/routes/me.ts';
import { ownCallRoutes } from '../http/routes/own-calls.ts';
import { policyRoutes } from '../http/routes/policies.ts';
import { policyExplanationRoutes } from '../http/routes/policy-explanations.ts';
import { recordRoutes } from '../http/routes/records.ts';
import { secretRoutes } from '../http/routes/secrets.ts';
import { sourceActionRoutes } from '../http/routes/source-actions.ts';
import { sourceImportRoutes } from '../http/routes/source-import.ts';
import { sourceLogRoutes } from '../http/routes/source-logs.ts';
import { sourcePreviewRoutes } from '../http/routes/source-previews.ts';
import { sourceRoutes } from '../http/routes/sources.ts';
import { toolRoutes } from '../http/routes/tools.ts';
import { userConnectionRoutes } from '../http/routes/user-connections.ts';
import { utcpCallRoutes } from '../http/routes/utcp-calls.ts';
import { addressRoutes } from '../mcp-door/address-routes.ts';
import type { ClaimCheck } from '../policy/claim-check.ts';
import { version } from '../version.ts';

interface ApiRoutesInput {
  crib: Crib;
  verifier: TokenVerifier;
  issuers: readonly Pick<IssuerConfig, 'issuer'>[];
  administers: ClaimCheck;
  metrics: Metrics;
  metricsGuard: MetricsGuard;
  /** Where callers reach the server, without a slash at its end. */
  publicUrl: string;
  /** Whether MCP clients are served. */
  mcpDoor: boolean;
  /** Aborts when the server begins to stop. */
  closing: AbortSignal;
}

/** Every route that the OpenAPI document lists. */
export function apiRoutes(input: ApiRoutesInput): Route[] {
  const { crib, verifier, issuers, administers, metrics, metricsGuard, publicUrl, mcpDoor, closing } = input;
  let document: object | undefined;
  const routes: Route[] = [
    ...toolRoutes({ ...crib, publicUrl }),
    ...addressRoutes({ ...crib, publicUrl, isOpen: mcpDoor }),
    ...callRoutes(crib),
    ...ownCallRoutes(crib),
    ...utcpCallRoutes(crib),
    ...artifactRoutes(crib),
    ...meRoutes({ ...crib, administers }),
    ...eventFeedRoutes({ ...crib, closing, metrics }),
    ...sourceRoutes(crib),
    ...sourcePreviewRoutes({ ...crib, closing }),
    ...sourceActionRoutes(crib),
    ...sourceImportRoutes(crib),
    ...sourceLogRoutes({ ...crib, closing }),
    ...recordRoutes(crib),
    ...auditRoutes({ ...crib, closing }),
    ...administeredToolRoutes(crib),
    ...approvalRoutes(crib),
    ...groupRoutes(crib),
    ...policyRoutes(crib),
    ...policyExplanationRoutes({ ...crib, verifier, administers, onlyIssuer: issuers.length === 1 ? issuers[0]?.issuer : undefined }),
    ...configurationRoutes(crib),
    ...secretRoutes(crib),
    ...connectionRoutes({ ...crib, administers }),
    ...userConnectionRoutes(crib),
    ...healthRoutes({
      metrics,
      metricsGuard,
      closing,
      unreachableIssuers: () => verifier.unreachable(),
      refusedBecause: () => crib.acceptance.reasons(),
      checkDatabase: () => crib.store.events.lastId(['policy']),
      openApi: () => (document ??= openApiDocument(routes, { version, publicUrl })),
    }),
  ];
  return routes;
}
