import type { BenchIssuer } from './issuer.ts';
import type { PreparedRequest } from './load.ts';
import { openMcpEndpoint } from './peers/mcp-endpoint.ts';
import type { EchoCall } from './peers/peers.ts';
import { postBytes } from './post-bytes.ts';
import { claimsOf, userRole } from './users.ts';

/** The echoed text: 64 bytes, different for every user. */
const textOf = (index: number) => `user-${index}-`.padEnd(64, 'abcdefghijklmnopqrstuvwxyz');

/** One call per user of `echo:echo`, each with its own token, to Toolcrib and, byte for byte, to the bare server. */
export function echoRequests(issuer: BenchIssuer, users: number): { toToolcrib: PreparedRequest[]; toEcho: PreparedRequest[] } {
  const calls = Array.from({ length: users }, (_, index) => {
    const text = textOf(index);
    const authorization = `Bearer ${issuer.mint(claimsOf(index, [userRole]))}`;
    return { text, bytes: postBytes('/api/bff/tools/call', { name: 'echo:echo', arguments: { text } }, { authorization }) };
  });
  return {
    toToolcrib: calls.map(({ text, bytes }) => ({ bytes, status: 200, expect: `"result":"${text}",` })),
    toEcho: calls.map(({ text, bytes }) => ({ bytes, status: 200, expect: `"result":{"text":"${text}"},` })),
  };
}

/** The revisions that the door is measured with: the last one with sessions, and the first one without. */
export const eras = ['2025-11-25', '2026-07-28'] as const;
export type Era = (typeof eras)[number];

/** The same calls through Toolcrib's MCP door, each user with a session of their own where the revision has them. */
export async function doorRequests(issuer: BenchIssuer, users: number, port: number, era: Era): Promise<PreparedRequest[]> {
  return Promise.all(
    Array.from({ length: users }, async (_, index) => {
      const text = textOf(index);
      const own = { authorization: `Bearer ${issuer.mint(claimsOf(index, [userRole]))}` };
      const headers =
        era === '2026-07-28' ? { ...own, ...statelessHeaders } : await openMcpEndpoint(`http://127.0.0.1:${port}/mcp`, own, era);
      if (headers === undefined) throw new Error('The MCP door did not open a session');
      const params = { name: doorTool, arguments: { text }, ...(era === '2026-07-28' && { _meta: statelessMeta }) };
      const bytes = postBytes('/mcp', { jsonrpc: '2.0', id: index + 1, method: 'tools/call', params }, headers);
      return { bytes, status: 200, expect: `"text":"${text}"` };
    }),
  );
}

const doorTool = 'echo_echo';
/** What the revision of 2026-07-28 demands of every request. */
const statelessHeaders = {
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': doorTool,
};
const statelessMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** So many that no id is reused while a call with it may still be under way: some peers would lose the answer. */
const peerCalls = 2000;

/** The same texts to a peer, in its own format. */
export function peerRequests(call: EchoCall, users: number): PreparedRequest[] {
  return Array.from({ length: peerCalls }, (_, index) => {
    const text = textOf(index % users);
    return { bytes: call(text, index + 1), status: 200, expect: `"${text}"` };
  });
}
