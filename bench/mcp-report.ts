import { baseline, type CallFigures, type Compare, type Comparison, type Measure } from './measure-calls.ts';
import type { StandbyFigures } from './measure-standby.ts';
import { rustProxy } from './peers/peers.ts';
import { callCells, callHeads, countOf, ratioText, table, verdictTable, type Target } from './report.ts';

const kinds = ['stdio', 'http'] as const;
type Kind = (typeof kinds)[number];

/** Contestants are named after the kind of server behind them, if there is any. */
const isOf = (kind: Kind, name: string) => name.endsWith(`(${kind})`) || !name.includes('(');
const isPeer = (name: string) => name.includes('(') && !name.startsWith('toolcrib') && !name.startsWith('SDK client');

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
  compared: Comparison[];
  standby: StandbyFigures | null;
  targets: Target[];
}

/** Toolcrib beside every other contestant with the same kind of server behind it, and beside what has none. */
export function comparisons(calls: CallFigures[], compare: Compare): Comparison[] {
  const claims = kinds.flatMap((kind) => {
    const own = `toolcrib (${kind})`;
    const others = calls.filter(({ name }) => name !== own && isOf(kind, name));
    return others.map(({ name, connections }) => {
      const measure: Measure = connections === 1 ? 'p50Us' : 'callsPerSecond';
      return compare({ connections, measure, own, other: name });
    });
  });
  return claims.filter((claim) => claim !== undefined);
}

/** Our targets. They are reported, never asserted: the speed of a machine does not make a change right or wrong. */
export function mcpTargets(compared: Comparison[], standby: StandbyFigures | null): Target[] {
  const found: Target[] = [];
  const add = (target: string, claim: Comparison | undefined, isMet: (ratio: number) => boolean) => {
    if (claim === undefined) return;
    found.push({ target, measured: `${ratioText(claim.ratio, claim.quartiles)} of ${claim.other}`, met: isMet(claim.ratio) });
  };
  const of = (kind: Kind, connections: number, other: string) =>
    compared.find((claim) => claim.own === `toolcrib (${kind})` && claim.connections === connections && claim.other.startsWith(other));
  for (const [kind, least] of [
    ['stdio', 0.8],
    ['http', 0.33],
  ] as const) {
    add(`${kind}, 32 connections: at least ${least} of bare Fastify`, of(kind, 32, baseline), (ratio) => ratio >= least);
    const peers = compared.filter(({ own, connections, other }) => own === `toolcrib (${kind})` && connections === 32 && isPeer(other));
    const strongest = peers.toSorted((a, b) => a.ratio - b.ratio)[0];
    add(`${kind}, 32 connections: ahead of every peer, the strongest being`, strongest, (ratio) => ratio > 1);
  }
  add('stdio, 32 connections: wanted 1.2 of the Rust proxy', of('stdio', 32, rustProxy), (ratio) => ratio >= 1.2);
  for (const kind of kinds) {
    add(`${kind}, 1 connection: p50 at most that of the Rust proxy`, of(kind, 1, rustProxy), (ratio) => ratio <= 1);
  }
  add('stdio, 1 connection: p50 at most 2.5 of the direct SDK call', of('stdio', 1, 'SDK client'), (ratio) => ratio <= 2.5);
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
  for (const kind of kinds) {
    for (const connections of [32, 1]) {
      const rows = results.calls.filter((row) => row.connections === connections && isOf(kind, row.name));
      if (rows.length > 1) sections.push(callTable(kind, connections, rows));
    }
  }
  if (results.compared.length > 0) sections.push(comparisonTable(results.compared));
  if (results.turns.made > 0) sections.push(`Of ${results.turns.made} turns the ${results.turns.kept} with the least noise were kept.`);
  if (results.absent.length > 0) {
    sections.push(['Not measured:', ...results.absent.map(({ name, reason }) => `- ${name}: ${reason}`)].join('\n'));
  }
  if (results.standby !== null) sections.push(standbyTable(results.standby));
  sections.push(verdictTable(results.targets));
  return sections.join('\n\n');
}

function comparisonTable(compared: Comparison[]): string {
  const names = [...new Set(compared.map(({ other }) => other.replace(/ \((stdio|http)\)$/, '')))];
  const cell = (name: string, kind: Kind, connections: number) => {
    const claim = compared.find(
      (one) => one.own === `toolcrib (${kind})` && one.connections === connections && [name, `${name} (${kind})`].includes(one.other),
    );
    return claim === undefined ? null : ratioText(claim.ratio, claim.quartiles);
  };
  const columns = [32, 1].flatMap((connections) => kinds.map((kind) => ({ kind, connections })));
  const heads = columns.map(({ kind, connections }) => `${kind}, ${countOf(connections)}: ${connections === 1 ? 'p50' : 'calls/s'}`);
  return table(
    ['Toolcrib, of (middle half)', ...heads],
    names.map((name) => [name].concat(columns.map(({ kind, connections }) => cell(name, kind, connections) ?? '–'))),
  );
}

function callTable(kind: Kind, connections: number, rows: CallFigures[]): string {
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
