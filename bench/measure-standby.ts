import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { BenchIssuer } from './issuer.ts';
import { sourceOf, startWithSources } from './mcp-toolcrib.ts';
import { median, quantile } from './quantile.ts';
import { claimsOf, userRole } from './users.ts';

export interface StandbyFigures {
  /** The server alone, with the SDK's client: start, handshake, list, call. */
  cold_start_ms: number;
  /** A transient call through Toolcrib that starts the server. */
  without_standby_ms: number;
  /** The same with a standby. */
  with_standby_ms: number;
  with_standby_p90_ms: number;
  /** The first, the middle and the last answer of this many calls at once, with this many standbys. */
  burst: { calls: number; standby: number; first_ms: number; p50_ms: number; last_ms: number };
}

const standby = 2;
const burstCalls = 8;
const samples = 20;

/** [MCP-6] The cost of a transient call with and without a standby, one at a time as a user makes them, and many at once. */
export async function measureStandby(input: { issuer: BenchIssuer; directory: string; command: string[] }): Promise<StandbyFigures> {
  const { issuer, directory, command } = input;
  const upstream = { kind: 'stdio' as const, command };
  const sources = [
    sourceOf('ahead', upstream, { lifecycle_mode: 'transient', standby }),
    sourceOf('cold', upstream, { lifecycle_mode: 'transient', standby: 0 }),
  ];
  const { server } = await startWithSources(issuer, join(directory, 'standby'), sources);
  await using _server = server;
  const token = issuer.mint(claimsOf(0, [userRole]));

  async function call(namespace: string): Promise<number> {
    const began = performance.now();
    const response = await fetch(`http://127.0.0.1:${server.port}/api/bff/tools/call`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ name: `${namespace}:echo`, arguments: { text: namespace } }),
    });
    const { result } = (await response.json()) as { result: unknown };
    const took = performance.now() - began;
    if (result !== namespace) throw new Error(`The echo differs: ${JSON.stringify(result)}`);
    return took;
  }

  const cold: number[] = [];
  const without: number[] = [];
  const ahead: number[] = [];
  for (let sample = 0; sample < samples + 1; sample++) {
    const [coldMs, withoutMs] = [await coldStart(command), await call('cold')];
    // Long enough to replace the used standby, as between two calls of one user.
    await sleep(4 * coldMs);
    const aheadMs = await call('ahead');
    // The first call of each kind includes compilation.
    if (sample === 0) continue;
    cold.push(coldMs);
    without.push(withoutMs);
    ahead.push(aheadMs);
  }
  await sleep(10 * median(cold));
  const burst = (await Promise.all(Array.from({ length: burstCalls }, () => call('ahead')))).sort((a, b) => a - b);
  const ms = (value: number) => Math.round(value * 100) / 100;
  return {
    cold_start_ms: ms(median(cold)),
    without_standby_ms: ms(median(without)),
    with_standby_ms: ms(median(ahead)),
    with_standby_p90_ms: ms(
      quantile(
        ahead.toSorted((a, b) => a - b),
        0.9,
      ),
    ),
    burst: {
      calls: burstCalls,
      standby,
      first_ms: ms(burst[0] ?? Number.NaN),
      p50_ms: ms(median(burst)),
      last_ms: ms(burst.at(-1) ?? Number.NaN),
    },
  };
}

async function coldStart([command = '', ...args]: string[]): Promise<number> {
  const client = new Client({ name: 'bench', version: '1.0.0' });
  const began = performance.now();
  await client.connect(new StdioClientTransport({ command, args }));
  await client.listTools();
  await client.callTool({ name: 'echo', arguments: { text: 'cold' } });
  const took = performance.now() - began;
  await client.close();
  return took;
}
