import type { CallFigures } from './measure-calls.ts';
import type { StandbyFigures } from './measure-standby.ts';
import { callCells, callHeads, countOf, table, verdictTable, type Target } from './report.ts';

/** A peer that takes no part, and why. */
export interface Absent {
  name: string;
  reason: string;
}

export interface McpResults {
  measured_at: string;
  machine: string;
  command: string;
  turns: { kept: number; made: number };
  absent: Absent[];
  calls: CallFigures[];
  standby: StandbyFigures | null;
  targets: Target[];
}

/** Our targets. They are reported, never asserted: the speed of a machine does not make a change right or wrong. */
export function mcpTargets(calls: CallFigures[], standby: StandbyFigures | null): Target[] {
  const found: Target[] = [];
  const many = calls.filter(({ connections }) => connections === 32);
  for (const [kind, least] of [
    ['stdio', 0.6],
    ['http', 0.33],
  ] as const) {
    const own = many.find(({ name }) => name === `toolcrib (${kind})`);
    if (own === undefined) continue;
    const ratio = own.ratio_to_fastify;
    found.push({ target: `${kind}, 32 connections: at least ${least} of bare Fastify`, measured: ratio.toFixed(2), met: ratio >= least });
    const others = many.filter(({ name }) => name.endsWith(`(${kind})`) && !name.startsWith('toolcrib'));
    const best = others.toSorted((a, b) => b.ratio_to_fastify - a.ratio_to_fastify)[0];
    if (best === undefined) continue;
    const measured = `${ratio.toFixed(2)} to ${best.ratio_to_fastify.toFixed(2)} of ${best.name}`;
    found.push({ target: `${kind}, 32 connections: ahead of every peer`, measured, met: ratio > best.ratio_to_fastify });
  }
  const p50 = (name: string) => calls.find((row) => row.connections === 1 && row.name.startsWith(name))?.p50_us;
  const [own, direct] = [p50('toolcrib (stdio)'), p50('SDK client')];
  if (own !== undefined && direct !== undefined) {
    const times = own / direct;
    found.push({ target: 'stdio, 1 connection: p50 at most 2.5 of the direct SDK call', measured: times.toFixed(2), met: times <= 2.5 });
  }
  if (standby !== null) {
    const part = standby.with_standby_ms / standby.cold_start_ms;
    found.push({
      target: "transient with standby: p50 under a tenth of the server's cold start",
      measured: part.toFixed(3),
      met: part < 0.1,
    });
  }
  return found;
}

/** The results as the tables of README.md. */
export function mcpToMarkdown(results: McpResults): string {
  const sections = [`${results.machine}; \`${results.command}\``];
  for (const kind of ['stdio', 'http']) {
    for (const connections of [32, 1]) {
      const rows = results.calls.filter(
        (row) => row.connections === connections && (row.name.endsWith(`(${kind})`) || !row.name.includes('(')),
      );
      if (rows.length > 1) sections.push(callTable(kind, connections, rows));
    }
  }
  if (results.turns.made > 0) sections.push(`Of ${results.turns.made} turns the ${results.turns.kept} with the least noise were kept.`);
  if (results.absent.length > 0) {
    sections.push(['Not measured:', ...results.absent.map(({ name, reason }) => `- ${name}: ${reason}`)].join('\n'));
  }
  if (results.standby !== null) sections.push(standbyTable(results.standby));
  sections.push(verdictTable(results.targets));
  return sections.join('\n\n');
}

function callTable(kind: string, connections: number, rows: CallFigures[]): string {
  const behind = `${kind === 'stdio' ? 'stdio' : 'streamable HTTP'} behind it, ${countOf(connections)}`;
  const heads = [behind, ...callHeads, 'of the server behind it: CPU s per 1,000 calls', 'memory under load MB', 'cores: anything else'];
  const cells = rows.map((row) => [
    row.name.replace(` (${kind})`, ''),
    ...callCells(row),
    row.upstream_cpu_seconds_per_1000_calls,
    row.memory_under_load_mb,
    row.other_cpu,
  ]);
  return table(heads, cells);
}

function standbyTable({ burst, ...row }: StandbyFigures): string {
  const rows = [
    ["the server's cold start: spawn, handshake, list, call", row.cold_start_ms],
    ['a transient call without standby', row.without_standby_ms],
    ['a transient call with standby', row.with_standby_ms],
    ['the same, p90', row.with_standby_p90_ms],
    [`${burst.calls} calls at once with ${burst.standby} standing by: the first`, burst.first_ms],
    ['the middle one', burst.p50_ms],
    ['the last', burst.last_ms],
  ];
  return table(['transient', 'p50 ms'], rows);
}
