import { noLimits } from '../model/call-limits.ts';
import type { Tool } from '../model/tool.ts';
import { methodField } from '../sources/mcp/pool/source-calls.ts';

/**
 * [DOOR-5] A request to a server beside a tool call, in the form of a tool, so that it takes the one path of every call: limits, timeouts,
 * credentials, record. `like` is a tool of the same source that the caller may use.
 */
export function sourceRequest(method: string, like: Tool): Tool {
  const { source_id, source_name, namespace, source_limits, timeout_ms } = like;
  return {
    tool_id: `${source_id}/${method}`,
    name: `${namespace}:${method}`,
    model_name: method,
    source_id,
    source_name,
    namespace,
    definition: { name: method, description: '', input_schema: { type: 'object' } },
    title: null,
    description: '',
    tags: [],
    labels: {},
    method: null,
    path: null,
    version: null,
    execution_mode: 'mcp_call',
    durable: false,
    operation: null,
    workflow: null,
    plan: { [methodField]: method },
    definition_hash: method,
    approved_hash: method,
    state: 'active',
    limits: noLimits,
    source_limits,
    timeout_ms,
    retries: null,
    fingerprint: method,
  };
}
