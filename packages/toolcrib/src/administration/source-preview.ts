import { randomUUID } from 'node:crypto';
import { toolChoice } from '../inventory/tool-choice.ts';
import type { Counter } from '../inventory/counter.ts';
import { CribError } from '../model/crib-error.ts';
import type { McpDefinition } from '../model/mcp-definition.ts';
import { TimeoutError } from '../model/named-errors.ts';
import type { Principal } from '../model/principal.ts';
import type { SourceRecord } from '../model/source.ts';
import type { DiscoveredTool } from '../model/tool.ts';
import { sourceSecretName } from '../secrets/secret-name.ts';
import { Secret } from '../secrets/secret.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import type { McpServerInfo } from '../sources/mcp/mcp-session.ts';
import type { McpRegistration } from '../sources/mcp/registration/forms.ts';
import { normaliseRegistration } from '../sources/mcp/registration/normalise.ts';
import type { RunGate } from '../sources/mcp/run/run-gate.ts';
import type { SessionOpener } from '../sources/mcp/session-opener.ts';
import type { MakeChange } from './change-log.ts';
import type { ScopeOf } from './registration-scope.ts';
import type { RunPermission } from './run-permission.ts';

/** [SRC-8] What a registration would come to. */
export interface SourcePreview {
  name: string;
  namespace: string;
  definition: McpDefinition;
  /** What would be started, and the packages, script or image in it; null for a remote server. */
  starts: { runtime: string; runs: string[] } | null;
  /** Fields of required values that are not there. */
  missing: string[];
  /** Null where the server was not asked. */
  tools: DiscoveredTool[] | null;
  server: McpServerInfo | null;
  /** Why it could not be registered, or could not be started. */
  error: CribError | null;
}

export type PreviewSource = (
  actor: Principal,
  form: McpRegistration,
  options: { discover: boolean; signal: AbortSignal },
) => Promise<SourcePreview>;

interface SourcePreviewInput {
  counter: Counter;
  secrets: Pick<SecretStore, 'get'>;
  scopeOf: ScopeOf;
  runPermission: RunPermission;
  gate: Pick<RunGate, 'check'>;
  change: MakeChange;
  /** Opens sessions with these secrets, and keeps nothing of what it learns. */
  createOpener(secrets: Pick<SecretStore, 'get'>): SessionOpener;
  /** Told of the source that was only looked at; resolves when nothing that was made for it is left. */
  forgotten(sourceId: string): Promise<void>;
}

/** Tries a registration without saving anything of it. */
export function createSourcePreview(input: SourcePreviewInput): PreviewSource {
  const { counter, secrets, scopeOf, runPermission, gate, change } = input;

  function clash(namespace: string): CribError | null {
    const taken = [...counter.sources.values()].find((source) => source.namespace === namespace);
    if (taken === undefined) return null;
    return new CribError('CONFLICT', `The source ${taken.name} has the namespace ${namespace} already. Choose another`, {
      field: 'namespace',
    });
  }

  /** [LIFE-3] As a transient source is started: spawn, handshake, list, end. */
  async function discover(source: SourceRecord & { definition: McpDefinition }, values: Record<string, string>, signal: AbortSignal) {
    const { definition } = source;
    const own = new Map(Object.entries(values).map(([variable, value]) => [sourceSecretName(source.id, variable), new Secret(value)]));
    const open = input.createOpener({ get: async (name) => own.get(name) ?? secrets.get(name) });
    const { startupTimeoutMs } = definition.resilience;
    const deadline = AbortSignal.timeout(startupTimeoutMs);
    try {
      const session = await open(source, signal);
      try {
        const resources = definition.register_resources_as_tools;
        const tools = await session.listTools({ signal: AbortSignal.any([signal, deadline]), resources });
        return { tools: tools.filter(toolChoice(definition.tools)), server: session.info, error: null };
      } finally {
        await session.close();
      }
    } catch (error) {
      if (signal.aborted) throw error;
      if (deadline.aborted && !(error instanceof CribError))
        return failed(new TimeoutError(`The server has not listed its tools within ${startupTimeoutMs} ms`, { cause: error }));
      if (!(error instanceof CribError)) throw error;
      return failed(error);
    } finally {
      await input.forgotten(source.id);
    }
  }

  /** [SEC-2] Why this may not be started here, or not by whoever asks. */
  function runRefusal(actor: Principal, form: McpRegistration, definition: McpDefinition): CribError | null {
    try {
      runPermission.require(actor, form);
      gate.check(definition);
      return null;
    } catch (error) {
      if (error instanceof CribError) return error;
      throw error;
    }
  }

  return async (actor, form, { discover: wanted, signal }) => {
    const id = randomUUID();
    const scope = scopeOf(id);
    const {
      name,
      namespace,
      definition,
      starts,
      missing,
      secrets: values,
    } = await normaliseRegistration(form, { ...scope, preview: true });
    // [SEC-2] Whoever may not register it may not try it either.
    if (wanted && starts !== null) runPermission.require(actor, form);
    const [field] = missing;
    const unsavable =
      clash(namespace) ??
      (field === undefined ? null : new CribError('VALIDATION_ERROR', 'Missing required credentials', { field })) ??
      (starts === null ? null : runRefusal(actor, form, definition));
    const now = Date.now();
    const stored = { managed_by: null, created_at: now, updated_at: now };
    const source = { id, name, namespace, source_type: 'mcp' as const, enabled: true, definition, ...stored };
    // [SEC-4] It is started or connected to, though nothing is saved.
    if (wanted && unsavable === null) {
      const after = { name, namespace, transport_type: definition.transport_type, starts };
      await change(actor, { kind: 'source-previewed', topic: 'source', subject: id }, async () => ({ before: null, after }));
    }
    // What could not be saved is not started either.
    const found = wanted && unsavable === null ? await discover(source, values, signal) : { tools: null, server: null, error: unsavable };
    return { name, namespace, definition, starts, missing, ...found };
  };
}

function failed(error: CribError): Pick<SourcePreview, 'tools' | 'server' | 'error'> {
  return { tools: null, server: null, error };
}
