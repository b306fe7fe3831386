import type { LoginBridgeConfig } from '../login-bridge/bridge-config.ts';
import type { Limits } from '../resilience/gate.ts';
import type { IssuerConfig } from '../identity/issuer-config.ts';
import type { Matcher } from '../model/policy.ts';
import type { Pinning } from '../model/source-definition.ts';
import type { RunRules } from '../model/run-rules.ts';
import type { Registries } from '../sources/mcp/registry/registry-lookup.ts';
import type { TracingConfig } from '../tracing/tracing-config.ts';
import type { ListenAddress } from '../http/metrics-listener.ts';

export interface ServeConfig {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Where browsers and agents reach the server; the address it listens on when absent. */
  publicUrl?: string;
  /** [DOOR-1] Whether MCP clients are served at /mcp; only in development when absent. */
  mcpDoor?: boolean;
  /** How many threads listen for callers; with 1, the main thread does. */
  threads: number;
  dataDir: string;
  databaseUrl?: string;
  /** [SEC-3] The keys that seal secrets, or a file that holds them. */
  keys?: string;
  /** None: development mode, with an issuer of our own, on loopback only. */
  issuers: IssuerConfig[];
  /** [ENV-2] Environment variables of the gateway that sources may use. */
  allowedEnvironment?: string[];
  /** [SEC-1] Networks that may be reached besides public addresses. Default: this machine in development, otherwise none. */
  allowedNetworks?: readonly string[];
  /** The proxy for all outgoing requests, and the hosts that bypass it. */
  proxy?: string;
  noProxy?: readonly string[];
  /** Certificates to trust beside the usual ones. */
  caFile?: string;
  /** Directories of this machine that containers may mount. */
  allowedMounts?: string[];
  /** Where the engine is that runs containers. */
  dockerHost?: string;
  /** [SRC-2] Where descriptions of servers are looked up; in the public registries where it is left out. */
  registries?: Partial<Registries>;
  /** [SRC-6] Says which sources, groups and policies there should be; applied at the start and whenever it changes. */
  configFile?: string;
  /** For a first look, in development only: brings a demo server along, and lets everybody use whatever is added. */
  demo?: boolean;
  /** Who administers, of an issuer that is alone and does not say it itself. */
  adminMatcher: Matcher;
  /** [SEC-2] Who may register programs to run on this machine, in the same way; in development every administrator may. */
  runMatcher: Matcher;
  /** [SEC-2] Programs that may run on this machine. Without them: in development everything except shells, inline code and packages from URLs, else nothing. */
  runRules?: RunRules;
  /** [INV-3] How new and changed tools are treated where their source does not say. Default: `warn` in development, otherwise `quarantine`. */
  pinning?: Pinning | undefined;
  allowedHosts: string[];
  allowedOrigins: string[];
  /** Addresses and ranges of proxies that say where a request came from. */
  trustedProxies: string[];
  bodyLimitBytes: number;
  principalLimits: Limits;
  /** [EXEC-7] For each user: searches, registrations, previews and begun connections together. */
  requestLimits: Pick<Limits, 'rate_per_second' | 'burst'>;
  defaultTimeoutMs: number;
  maxTimeoutMs: number;
  /** How long costly arguments may be checked; 5 seconds when absent. */
  checkMs?: number;
  /** How long running calls may go on once the server stops. */
  drainMs: number;
  retentionDays: number;
  /** The same for the record of changes. */
  auditRetentionDays: number;
  /** [SEC-4] Whether calls are recorded in a file first; with the embedded database when absent. */
  journal?: boolean;
  /** [SEC-4] Whether that file has to reach the disk before a call is answered. */
  fsync?: boolean;
  /** The largest answer that is given whole. */
  responseBytes: number;
  /** How long the rest of larger ones is kept, and how much of it for each user. */
  artifactDays: number;
  artifactBytes: number;
  /** [OPS-1] The token for reading metrics. Without it, metrics are open in development; otherwise they are served only on a port of their own. */
  metricsToken?: string;
  metricsListen?: ListenAddress;
  /** [FIND-1] Whether tools are found by meaning too, by the package that is installed for it. */
  embeddings?: boolean;
  /** [OPS-1] Where traces go; none are made where it is absent. */
  tracing?: TracingConfig;
  /** [LOGIN-3] Signs people in for MCP clients, by one of the issuers; in development on unless it is `off`. */
  loginBridge?: LoginBridgeConfig | 'off';
  logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
}

/** The defaults of a server; the command line shows the same ones. */
export const usualConfig = {
  host: '127.0.0.1',
  port: 7300,
  threads: 1,
  issuers: [],
  adminMatcher: { path: 'realm_access.roles', operator: 'contains', value: 'toolcrib-admin' },
  runMatcher: { path: 'realm_access.roles', operator: 'contains', value: 'toolcrib-run' },
  allowedHosts: [],
  allowedOrigins: [],
  trustedProxies: [],
  bodyLimitBytes: 1_048_576,
  principalLimits: { rate_per_second: 100, burst: 200, concurrency: 100 },
  requestLimits: { rate_per_second: 20, burst: 200 },
  defaultTimeoutMs: 30_000,
  maxTimeoutMs: 600_000,
  drainMs: 25_000,
  retentionDays: 90,
  auditRetentionDays: 400,
  responseBytes: 1_048_576,
  artifactDays: 7,
  artifactBytes: 268_435_456,
  logLevel: 'info',
} satisfies Omit<ServeConfig, 'dataDir'>;
