/** The headers that a streamable HTTP client sends with every request after the handshake. */
export type McpHeaders = Record<string, string>;

const accept = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Does the handshake with an MCP server over streamable HTTP; undefined if it does not answer yet. */
export async function openMcpEndpoint(url: string, own: McpHeaders = {}, protocolVersion = '2025-06-18'): Promise<McpHeaders | undefined> {
  const post = (message: object, headers: McpHeaders) =>
    fetch(url, { method: 'POST', headers: { ...accept, ...headers }, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } };
  try {
    const response = await post({ id: 0, method: 'initialize', params }, own);
    const text = await response.text();
    if (!response.ok || !text.includes('"result"')) return undefined;
    const session = response.headers.get('mcp-session-id');
    const headers = { ...accept, ...own, 'mcp-protocol-version': protocolVersion, ...(session !== null && { 'mcp-session-id': session }) };
    const initialized = await post({ method: 'notifications/initialized' }, headers);
    await initialized.text();
    return initialized.ok ? headers : undefined;
  } catch {
    return undefined;
  }
}
