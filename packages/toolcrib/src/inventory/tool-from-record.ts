import { hash } from 'node:crypto';
import { noLimits, remoteBreaker, type CallLimits } from '../model/call-limits.ts';
import { sourceTypeOf } from '../sources/registry.ts';
import { longestPauses } from '../model/poll-pauses.ts';
import type { Retries } from '../model/source-definition.ts';
import type { SourceRecord } from '../model/source.ts';
import type { Tool, ToolDefinition, ToolRecord } from '../model/tool.ts';
import { canonicalJson } from '../model/canonical-json.ts';
import { modelName } from './model-name.ts';

/** [INV-5] A tool as everybody sees it: the found definition with the administrator's overrides applied. */
export function toolFromRecord(record: ToolRecord, source: SourceRecord): Tool {
  const { discovered, overrides } = record;
  const { definition } = discovered;
  const shownName = overrides.rename ?? definition.name;
  const tool = {
    tool_id: record.tool_id,
    name: `${source.namespace}:${shownName}`,
    model_name: modelName(source.namespace, shownName),
    source_id: source.id,
    source_name: source.name,
    namespace: source.namespace,
    definition,
    title: titleOf(definition),
    description: overrides.description ?? definition.description,
    tags: tagsOf(discovered.tags, source),
    labels: overrides.labels ?? {},
    method: discovered.method ?? null,
    path: discovered.path ?? null,
    version: discovered.version ?? null,
    execution_mode: discovered.execution_mode,
    durable: discovered.execution_mode === 'async_poll' || discovered.execution_mode === 'workflow',
    operation: discovered.operation ?? null,
    workflow: discovered.workflow ?? null,
    plan: discovered.plan ?? null,
    definition_hash: record.definition_hash,
    approved_hash: record.approved_hash,
    state: overrides.hidden === true && record.state === 'active' ? ('hidden' as const) : record.state,
    limits: overrides.limits ?? noLimits,
    source_limits: limitsOf(source),
    timeout_ms: timeoutOf(record, source),
    retries: retriesOf(source),
  };
  // Fields that callers never see must not make their lists look changed. The definition counts by its hash: schemas are large, and
  // every reload does this for every tool.
  const {
    labels: _labels,
    limits: _limits,
    source_limits: _all,
    timeout_ms: _timeout,
    retries: _retries,
    approved_hash: _approved,
    definition: _definition,
    operation: _operation,
    workflow: _workflow,
    plan: _plan,
    ...shown
  } = tool;
  return { ...tool, fingerprint: hash('sha256', canonicalJson(shown), 'base64url') };
}

/** [UTCP-1] The tools of a manual keep its name, so that a group can select all of them. */
function tagsOf(tags: readonly string[], { definition }: SourceRecord): readonly string[] {
  const manual = definition?.manual;
  return manual === undefined || tags.includes(manual) ? tags : [...tags, manual];
}

const longestTitle = 500;

/** Older revisions of MCP have it among the annotations. It stays out of the definition, so that approvals remain valid. */
function titleOf({ title, annotations }: ToolDefinition): string | null {
  if (title !== undefined) return title;
  const annotated = annotations?.['title'];
  return typeof annotated === 'string' && annotated !== '' ? annotated.slice(0, longestTitle) : null;
}

/** [POLL-1] A polled operation may take as long as its polling may; each request has its own timeout. */
function timeoutOf({ discovered }: ToolRecord, { definition }: SourceRecord): number | null {
  if (definition === null) return null;
  const poll = discovered.operation?.poll ?? null;
  return definition.resilience.requestTimeoutMs + (poll === null ? 0 : longestPauses(poll));
}

function retriesOf({ definition }: SourceRecord): Retries | null {
  const retries = definition?.resilience.retries;
  return retries === undefined || retries.maxAttempts === 0 ? null : retries;
}

function limitsOf(source: SourceRecord): CallLimits {
  if (source.definition === null) return noLimits;
  const { limits } = source.definition;
  const isElsewhere = sourceTypeOf(source.source_type).registration?.isElsewhere(source.definition) === true;
  if (limits.breaker === undefined && isElsewhere) return { ...limits, breaker: remoteBreaker };
  return Object.keys(limits).length === 0 ? noLimits : limits;
}
