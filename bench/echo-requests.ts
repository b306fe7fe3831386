import type { BenchIssuer } from './issuer.ts';
import type { PreparedRequest } from './load.ts';
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

/** So many that no id is reused while a call with it may still be under way: some peers would lose the answer. */
const peerCalls = 2000;

/** The same texts to a peer, in its own format. */
export function peerRequests(call: EchoCall, users: number): PreparedRequest[] {
  return Array.from({ length: peerCalls }, (_, index) => {
    const text = textOf(index % users);
    return { bytes: call(text, index + 1), status: 200, expect: `"${text}"` };
  });
}
