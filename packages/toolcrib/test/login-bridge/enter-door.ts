/** The status with which a door answers a token. */
export async function enterDoor(url: string, token: string, path = '/mcp'): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body });
  await response.body?.cancel();
  return response.status;
}
