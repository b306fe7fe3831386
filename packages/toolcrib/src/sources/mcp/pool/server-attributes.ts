import { isRemote, type McpDefinition } from '../mcp-definition.ts';
import type { SpanAttributes } from '../../../model/tracing.ts';

/** [OPS-1] The server's attributes in traces. Only the host of its address: the rest may hold secrets. */
export function serverAttributes(definition: McpDefinition): SpanAttributes {
  const method = { 'mcp.method.name': 'tools/call' };
  if (!isRemote(definition)) return { ...method, 'network.transport': definition.transport_type === 'sse' ? 'tcp' : 'pipe' };
  const url = URL.parse(definition.server_url ?? '');
  if (url === null) return { ...method, 'network.transport': 'tcp' };
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  return { ...method, 'network.transport': 'tcp', 'server.address': url.hostname, 'server.port': port };
}
