/** The client of the MCP SDK with the echo server, in its own process: the cost of a call without a gateway. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { LoadReport } from './load.ts';
import type { Spell } from './measure-calls.ts';
import { quantile } from './quantile.ts';

const [command = '', ...args] = process.argv.slice(2);
const client = new Client({ name: 'bench', version: '1.0.0' });
const text = 'x'.repeat(64);

const connected = client.connect(new StdioClientTransport({ command, args }));

async function callFor(seconds: number): Promise<number[]> {
  const tookMs: number[] = [];
  for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
    const began = performance.now();
    const { content } = await client.callTool({ name: 'echo', arguments: { text } });
    tookMs.push(performance.now() - began);
    const [block] = content;
    if (block?.type !== 'text' || block.text !== text) throw new Error(`The echo differs: ${JSON.stringify(content)}`);
  }
  return tookMs;
}

async function run({ warmUpSeconds, measuredSeconds }: Spell): Promise<LoadReport> {
  await connected;
  const warm = await callFor(warmUpSeconds);
  const before = process.cpuUsage();
  const tookMs = await callFor(measuredSeconds);
  const cpu = process.cpuUsage(before);
  const sorted = Float64Array.from(tookMs).sort();
  const us = (part: number) => Math.round(quantile(sorted, part) * 10_000) / 10;
  return {
    calls: tookMs.length,
    seconds: measuredSeconds,
    allCalls: warm.length + tookMs.length,
    callsPerSecond: Math.round(tookMs.length / measuredSeconds),
    p50Us: us(0.5),
    p90Us: us(0.9),
    p99Us: us(0.99),
    serverCpuSeconds: (cpu.user + cpu.system) / 1e6,
    serverRssMb: Math.round(process.memoryUsage.rss() / 104_857.6) / 10,
    companionCpuSeconds: null,
    otherCpuShare: 0,
    loadCpuShare: 0,
  };
}

process.on('message', (spell: Spell) => {
  run(spell).then(
    (report) => process.send?.({ report }),
    (error: Error) => process.send?.({ error: error.message }),
  );
});
// The parent process has ended.
process.on('disconnect', () => process.exit());
