import { join } from 'node:path';
import type { BenchIssuer } from './issuer.ts';
import type { LoadProcess } from './load-process.ts';
import { seed } from './seed.ts';
import { startToolcrib } from './toolcrib.ts';
import { claimsOf, listBytes, listingRole } from './users.ts';

export interface ListFigures {
  answer: string;
  bytes: number;
  p50_ms: number;
  p99_ms: number;
}

const allTools = 10_000;
const visibleTools = 1000;

/** How long a user waits for a list of a thousand tools out of ten thousand, whole and unchanged. */
export async function measureListing(input: { load: LoadProcess; issuer: BenchIssuer; directory: string; seconds: number }) {
  const { load, issuer, directory, seconds } = input;
  const dataDir = join(directory, 'listing');
  await seed({ file: join(dataDir, 'toolcrib.db') }, { tools: allTools, visible: visibleTools });
  await using server = await startToolcrib({ issuer: issuer.issuer, dataDir });
  const token = issuer.mint(claimsOf(0, [listingRole]));
  const response = await fetch(`http://127.0.0.1:${server.port}/api/bff/tools`, { headers: { authorization: `Bearer ${token}` } });
  const body = await response.text();
  const etag = response.headers.get('etag');
  const { total, tools } = JSON.parse(body) as { total: number; tools: unknown[] };
  if (total !== visibleTools || tools.length !== visibleTools || etag === null)
    throw new Error(`The list is not as expected: ${total} tools`);

  const whole = { bytes: listBytes(token), status: 200, expect: `"total":${visibleTools}` };
  const unchanged = { bytes: listBytes(token, etag), status: 304, expect: '' };
  const figures: ListFigures[] = [];
  for (const [answer, request, bytes] of [
    ['whole', whole, body.length],
    ['unchanged', unchanged, 0],
  ] as const) {
    const report = await load.run({
      port: server.port,
      pid: server.pid,
      connections: 1,
      requests: [request],
      warmUp: { calls: 100, seconds: 1 },
      measured: { calls: 1000, seconds },
    });
    const ms = (us: number) => Math.round(us / 10) / 100;
    figures.push({ answer, bytes, p50_ms: ms(report.p50Us), p99_ms: ms(report.p99Us) });
    console.error(`list, ${answer}: p50 ${report.p50Us} µs, p99 ${report.p99Us} µs`);
  }
  return figures;
}
