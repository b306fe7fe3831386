import { isRemote, type McpDefinition } from '../model/mcp-definition.ts';
import type { SpanAttributes } from '../model/tracing.ts';

/** [OPS-1] What a trace says of the server that is asked. Of its address the host alone: there may be secrets in the rest. */
export function serverAttributes(definition: McpDefinition): SpanAttributes {
  const method = { 'mcp.method.name': 'tools/call' };
  if (!isRemote(definition)) return { ...method, 'network.transport': definition.transport_type === 'sse' ? 'tcp' : 'pipe' };
  const url = URL.parse(definition.server_url ?? '');
  if (url === null) return { ...method, 'network.transport': 'tcp' };
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  return { ...method, 'network.transport': 'tcp', 'server.address': url.hostname, 'server.port': port };
}
