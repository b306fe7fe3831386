import type { ExecutionLimits } from './execution/admission.ts';
import type { Limits } from './resilience/gate.ts';
import type { ClaimsByIssuer } from './identity/claims-by-issuer.ts';
import type { TrustedIssuer } from './identity/trusted-issuers.ts';
import type { Observer } from './model/observer.ts';
import type { Pinning } from './model/source-definition.ts';
import type { RunRules } from './model/run-rules.ts';
import type { Registries } from './sources/mcp/registry/registry-lookup.ts';
import type { Pauses } from './resilience/paced.ts';
import type { Embedder } from './model/embedder.ts';
import type { TracingConfig } from './tracing/tracing-config.ts';

/** The settings with which a crib is opened. */
export interface CribConfig {
  /** The folder of the embedded database and all other state. */
  dataDir: string;
  /** A PostgreSQL address; the embedded database if left out. */
  databaseUrl?: string;
  /**
   * [SEC-4] Whether calls are recorded in a file first, and brought into the database a moment later. By default with the embedded database
   * only: with PostgreSQL, a machine that is lost takes with it what was not brought in yet.
   */
  journal?: boolean;
  /** [SEC-4] Whether that file has to reach the disk before a call is answered, so that its record survives a power cut. */
  fsync?: boolean;
  /** Keys for the secrets, or the path of a file with them; a file in the data directory if left out. */
  keys?: string;
  /** [ENV-2] Environment variables of the gateway that sources may use as `${VAR}`. */
  allowedEnvironment?: readonly string[];
  /** Directories of this machine that containers may mount; none if left out. */
  allowedMounts?: readonly string[];
  /** [SEC-2] Who may decide which programs run on this machine; every administrator if left out. */
  runners?: ClaimsByIssuer;
  /** [SEC-2] Programs that may run on this machine; if left out, everything except shells, inline code and packages from URLs. */
  runRules?: RunRules | 'nothing';
  /** [SEC-2] Refuses to run servers outside containers under our own user account, unless the rules allow it. */
  separateUser?: boolean;
  /** True if the only issuer is our own: development policies are in force; plain http and private networks are allowed with a warning. */
  development?: boolean;
  /** [INV-3] How new and changed tools are treated if their source does not set it; `off` by default. */
  pinning?: Pinning;
  /** The address of the Docker Engine; `DOCKER_HOST` or the usual socket if left out. */
  dockerHost?: string;
  /** [SRC-2] The registries in which servers are looked up, null for none; the public registries if left out. */
  registries?: Partial<Registries>;
  /** [SEC-1] Networks that may be reached besides public addresses; this machine by default. */
  allowedNetworks?: readonly string[];
  /** The proxy for all outgoing requests, and the hosts that bypass it. */
  proxy?: string;
  noProxy?: readonly string[];
  /** A file of certificates to trust in addition to the usual ones. */
  caFile?: string;
  /** [DOOR-5] Whether requests of MCP servers, such as for sampling, may be passed on to clients of the MCP door. */
  passesOn?: boolean;
  /** [MCP-12] The address at which browsers reach this server, for users who return from an authorization server. */
  publicUrl?: string;
  /** [ID-3] Finds the issuer of a caller's token, for sources that exchange tokens; without it none can. */
  issuerOf?(issuer: string): TrustedIssuer | undefined;
  limits: ExecutionLimits;
  /** [EXEC-7] Per principal, for searches, registrations, previews and begun connections together. Unlimited if left out. */
  requestLimits?: Pick<Limits, 'rate_per_second' | 'burst'>;
  /** The time limit for checking arguments, and for compiling a schema, on a worker thread; 5 seconds if left out. */
  checkMs?: number;
  /** The largest answer that is sent whole, unless its tool or its source sets a limit. */
  responseBytes: number;
  /** How many bytes of larger answers are kept for each principal, and for how many days. */
  artifacts: { bytesPerPrincipal: number; days: number };
  /** How long the record of calls and of refused requests is kept. */
  retentionDays: number;
  /** How long the record of changes is kept; 400 days if left out. */
  auditRetentionDays?: number;
  /** [FIND-1] If given, searches find tools by meaning too. */
  embedder?: Embedder;
  /** [OPS-1] Where traces are sent; no tracing if left out. */
  tracing?: TracingConfig;
  /** [INV-1] Pauses between refreshes of a source whose tools keep changing. */
  refreshPauses?: Pauses;
  warn(message: string): void;
  /** [OPS-1] Is notified of what the crib does. */
  observer?: Observer;
}
