import type { CallNotice } from './execution/call-notice.ts';
import type { ExecutionLimits } from './execution/executor.ts';
import type { Limits } from './execution/limits.ts';
import type { ClaimsByIssuer } from './identity/claims-by-issuer.ts';
import type { ExchangeOutcome } from './identity/token-exchange.ts';
import type { TrustedIssuer } from './identity/trusted-issuers.ts';
import type { CallRecord } from './model/call.ts';
import type { ErrorCode } from './model/crib-error.ts';
import type { Pinning } from './model/source-definition.ts';
import type { RunRules } from './model/run-rules.ts';
import type { SourceRecord } from './model/source.ts';
import type { Tool } from './model/tool.ts';
import type { Registries } from './sources/mcp/registry/registry-lookup.ts';
import type { Pauses } from './supervision/paced.ts';
import type { SourceNotice } from './supervision/source-notice.ts';
import type { Embedder } from './model/embedder.ts';
import type { TracingConfig } from './tracing/tracing-config.ts';

/** How a crib is opened. */
export interface CribConfig {
  /** Where the embedded database and all other state lives. */
  dataDir: string;
  /** A PostgreSQL address; the embedded database when absent. */
  databaseUrl?: string;
  /** Keys for the secrets, or the file they are in; a file in the data directory when absent. */
  keys?: string;
  /** [ENV-2] Environment variables of ours that sources may name as `${VAR}`. */
  allowedEnvironment?: readonly string[];
  /** Directories of this machine that containers may mount; none where it is left out. */
  allowedMounts?: readonly string[];
  /** [SEC-2] Who may say what is run on this machine; every administrator where it is left out. */
  runners?: ClaimsByIssuer;
  /** [SEC-2] Programs that may run on this machine; where it is left out, everything except shells, inline code and packages from URLs. */
  runRules?: RunRules | 'nothing';
  /** [SEC-2] Keeps servers outside of containers from running as ourselves, unless the rules say so. */
  separateUser?: boolean;
  /** There is no issuer but our own: policies of development are in force, and plain http and private networks are allowed with a warning. */
  development?: boolean;
  /** [INV-3] What becomes of new and changed tools of a source that does not say it when it is registered; `off` where it is left out. */
  pinning?: Pinning;
  /** Where the Docker Engine listens; `DOCKER_HOST` or the usual place when absent. */
  dockerHost?: string;
  /** [SRC-2] Where descriptions of servers are looked up, null being nowhere; in the public registries where it is left out. */
  registries?: Partial<Registries>;
  /** [SEC-1] What may be connected to beside public addresses; this machine where it is left out. */
  allowedNetworks?: readonly string[];
  /** Through what everything goes on its way out, and what does not. */
  proxy?: string;
  noProxy?: readonly string[];
  /** Certificates to trust beside the usual ones. */
  caFile?: string;
  /** [MCP-12] Where browsers reach us, for users who come back from an authorization server. */
  publicUrl?: string;
  /** [ID-3] Who has issued a caller's token, for sources that exchange it; without it none can. */
  issuerOf?(issuer: string): TrustedIssuer | undefined;
  limits: ExecutionLimits;
  /** [EXEC-7] For every principal: searches, registrations, previews and begun connections together. Unlimited when absent. */
  requestLimits?: Pick<Limits, 'rate_per_second' | 'burst'>;
  /** How long arguments may be checked on a thread of their own, and a schema compiled; 5 seconds when absent. */
  checkMs?: number;
  /** The largest answer that is given whole, where neither its tool nor its source says. */
  responseBytes: number;
  /** How much of what was larger is kept, for each principal and for how long. */
  artifacts: { bytesPerPrincipal: number; days: number };
  /** How long the record of calls and of refused requests is kept. */
  retentionDays: number;
  /** How long the record of changes is kept; 400 days when absent. */
  auditRetentionDays?: number;
  /** [FIND-1] With it tools are found by meaning, too. */
  embedder?: Embedder;
  /** [OPS-1] Where traces go; none are made where it is left out. */
  tracing?: TracingConfig;
  /** [INV-1] How long a source is left alone whose tools keep changing; as usual where it is left out. */
  refreshPauses?: Pauses;
  warn(message: string): void;
  /** [SEC-4] Told every hour and at the end how far the record has come: noted elsewhere, it proves what was there. */
  onAuditHeads?(heads: string[]): void;
  onFinished?(record: CallRecord): void;
  onNotice?(notice: CallNotice, tool: Tool): void;
  onSourceFault?(code: ErrorCode, tool: Tool): void;
  onSourceNotice?(notice: SourceNotice, source: SourceRecord): void;
  onExchange?(outcome: ExchangeOutcome, ms: number): void;
  /** Told of every batch of the record: how long it took to write, and whether that failed. */
  onRecorded?(batch: { seconds: number; failed: boolean }): void;
}
