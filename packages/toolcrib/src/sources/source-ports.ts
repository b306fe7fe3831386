import type { Isolation } from '../isolation/isolation.ts';
import type { Answer } from '../model/call.ts';
import type { JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import type { RunRules } from '../model/run-rules.ts';
import type { Tool } from '../model/tool.ts';
import type { Egress } from '../net/egress.ts';
import type { Pauses } from '../resilience/paced.ts';
import type { Redactor } from '../secrets/redactor.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import type { Documents } from '../store/documents.ts';
import type { CallContext } from './source.ts';
import type { EnvironmentInput } from './upstream/environment.ts';
import type { ServerLog } from './upstream/logs/server-log.ts';
import type { WireLog } from './upstream/logs/wire-logs.ts';
import type { TokenSources } from './upstream/resolve-credential.ts';

/** The operator's settings for sources of all kinds. */
export interface SourceSettings {
  /** Where a kind may keep files that must survive a crash. */
  dataDir: string;
  /** The version of this package, which is sent to servers. */
  version: string;
  /** [DOOR-5] Whether requests of MCP servers, such as for sampling, may be passed on to clients of the MCP door. */
  passesOn?: boolean | undefined;
  /** Directories of this machine that containers may mount. */
  allowedMounts?: readonly string[];
  /** [SEC-2] Programs that may run on this machine. */
  runRules?: RunRules | 'nothing';
  /** [SEC-2] Whether servers outside of containers must run as another user, unless the rules allow ours. */
  separateUser?: boolean;
  /** Where the Docker Engine listens; by default `DOCKER_HOST` or the usual place. */
  dockerHost?: string;
  /** [SRC-2] The addresses of registries of servers; null turns one off. The public registries by default. */
  registries?: Partial<Record<'official' | 'smithery', string | null>>;
  /** [INV-1] The pauses between refreshes of a source whose tools keep changing. */
  refreshPauses?: Pauses;
  warn(message: string): void;
}

/** The values of one source, and what keeps its secrets out of answers and logs. */
export type SourceValues = EnvironmentInput & { redactor: Redactor };

/** [WF-1] A tool's call of another tool, as a separate step. */
interface StepCall {
  /** The id of the tool. */
  tool: string;
  arguments: JsonObject;
  /** The name of the step within the call: the same on every run of the call. */
  step: string;
  /** Whether a redirect is returned as the result instead of being followed; false by default. */
  keepsRedirects?: boolean;
}

/**
 * Calls a tool as the caller of `context`, under their policy, and records the call like any other. Throws `CribError` if it is refused; an
 * unknown tool and a forbidden one look the same.
 */
export type CallTool = (request: StepCall, context: CallContext) => Promise<Answer>;

/** One tool in a search result: enough to choose it. */
interface CatalogueEntry {
  name: string;
  model_name: string;
  title: string | null;
  description: string;
  /** The description on one line. */
  summary: string;
  /** Names of its parameters. */
  parameters: string[];
}

/**
 * [BI-2] The inventory and execution, as far as tools about tools need them. The policy of the principal applies: a forbidden tool must
 * look exactly like an unknown one.
 */
export interface ToolCatalogue {
  search(principal: Principal, query: string, limit: number): CatalogueEntry[];
  describe(principal: Principal, name: string): object | undefined;
  /** Names that the principal may have meant by an unknown name. */
  suggest(principal: Principal, name: string): string[];
  /** Throws `NOT_FOUND` if there is no such tool for the caller of `context`. */
  call(name: string, args: JsonObject, context: CallContext): Promise<Answer>;
}

/** Access to the tools of other sources. */
interface OtherTools {
  /** A source by its namespace, with the tools that can be called now. */
  of(namespace: string): { namespace: string; tools: readonly Tool[] } | undefined;
  readonly callStep: CallTool;
  readonly catalogue: ToolCatalogue;
}

/** Everything that a kind of source may use of the server. */
export interface SourcePorts {
  readonly settings: SourceSettings;
  /** [SEC-1] The only way to send requests. */
  readonly egress: Egress;
  /** Separate processes that parse untrusted text. */
  readonly isolation: Isolation;
  /** [ID-2] Where tokens for upstreams come from. */
  readonly tokens: TokenSources;
  readonly secrets: Pick<SecretStore, 'get'>;
  valuesOf(sourceId: string): SourceValues;
  logOf(sourceId: string): ServerLog;
  wireLogOf(sourceId: string): WireLog;
  /** Documents that were given as text, and the results of imports. */
  readonly documents: Documents;
  readonly tools: OtherTools;
}
