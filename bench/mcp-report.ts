import { baseline, type CallFigures, type Compare, type Comparison, type Measure } from './measure-calls.ts';
import { eras, type Era } from './echo-requests.ts';
import type { StandbyFigures } from './measure-standby.ts';
import { rustProxy } from './peers/peers.ts';
import { callCells, callHeads, countOf, ratioText, table, verdictTable, type Target } from './report.ts';

const kinds = ['stdio', 'http'] as const;
type Kind = (typeof kinds)[number];

/** Contestants are named after the kind of server behind them, if there is any. */
/** Toolcrib over REST, and through its MCP door in both eras. */
export const doorOf = (era: Era) => `toolcrib door ${era}`;
const ways = ['toolcrib', ...eras.map(doorOf)];

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

/** Every way into Toolcrib beside every other contestant with the same kind of server behind it, and beside what has none. */
export function comparisons(calls: CallFigures[], compare: Compare): Comparison[] {
  const pairs = kinds.flatMap((kind) => ways.map((way) => ({ kind, own: `${way} (${kind})` })));
  const claims = pairs.flatMap(({ kind, own }) => {
    const others = calls.filter(({ name }) => name !== own && isOf(kind, name));
    return others.flatMap(({ name, connections }) => {
      const measure: Measure = connections === 1 ? 'p50Us' : 'callsPerSecond';
      const claim = compare({ connections, measure, own, other: name });
      // What the door costs is a ratio of calls, also where one caller waits.
      const beside = connections === 1 && isRest(name) ? compare({ connections, measure: 'callsPerSecond', own, other: name }) : undefined;
      return [claim, beside];
    });
  });
  return claims.filter((claim) => claim !== undefined);
}

const isRest = (name: string) => name.startsWith('toolcrib (');

/** [DOOR-1] What a call through the door has to keep up with. */
const ofRest = 0.8;

function doorTargets(compared: Comparison[]): Target[] {
  const pairs = kinds.flatMap((kind) => eras.map((era) => ({ own: `${doorOf(era)} (${kind})`, kind, era })));
  return pairs.flatMap(({ own, kind, era }) =>
    [32, 1].flatMap((connections) => {
      const claims = compared.filter((claim) => claim.own === own && claim.connections === connections);
      const rest = claims.find(({ other, measure }) => isRest(other) && measure === 'callsPerSecond');
      const peers = claims.filter(({ other }) => isPeer(other));
      const strongest = peers.toSorted((a, b) => (connections === 1 ? b.ratio - a.ratio : a.ratio - b.ratio))[0];
      const what = `door ${era}, ${kind}, ${countOf(connections)}`;
      const ahead = connections === 1 ? 'p50 below that of every peer, the strongest being' : 'ahead of every peer, the strongest being';
      const keepsUp = targetOf(`${what}: at least ${ofRest} of our REST calls/s`, rest, (ratio) => ratio >= ofRest);
      return keepsUp.concat(targetOf(`${what}: ${ahead}`, strongest, (ratio) => (connections === 1 ? ratio < 1 : ratio > 1)));
    }),
  );
}

function targetOf(target: string, claim: Comparison | undefined, isMet: (ratio: number) => boolean): Target[] {
  if (claim === undefined) return [];
  return [{ target, measured: `${ratioText(claim.ratio, claim.quartiles)} of ${claim.other}`, met: isMet(claim.ratio) }];
}

/** Our targets. They are reported, never asserted: the speed of a machine does not make a change right or wrong. */
export function mcpTargets(compared: Comparison[], standby: StandbyFigures | null): Target[] {
  const found: Target[] = [];
  const add = (...target: Parameters<typeof targetOf>) => found.push(...targetOf(...target));
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
  found.push(...doorTargets(compared));
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
  for (const way of ways) {
    const compared = results.compared.filter(({ own }) => kinds.some((kind) => own === `${way} (${kind})`));
    if (compared.length > 0) sections.push(comparisonTable(way, compared));
  }
  if (results.turns.made > 0) sections.push(`Of ${results.turns.made} turns the ${results.turns.kept} with the least noise were kept.`);
  if (results.absent.length > 0) {
    sections.push(['Not measured:', ...results.absent.map(({ name, reason }) => `- ${name}: ${reason}`)].join('\n'));
  }
  if (results.standby !== null) sections.push(standbyTable(results.standby));
  sections.push(verdictTable(results.targets));
  return sections.join('\n\n');
}

function comparisonTable(way: string, compared: Comparison[]): string {
  const names = [...new Set(compared.map(({ other }) => other.replace(/ \((stdio|http)\)$/, '')))];
  const cell = (name: string, kind: Kind, connections: number) => {
    const claim = compared.find(
      ({ own, other, ...one }) =>
        own === `${way} (${kind})` &&
        one.connections === connections &&
        one.measure === (connections === 1 ? 'p50Us' : 'callsPerSecond') &&
        [name, `${name} (${kind})`].includes(other),
    );
    return claim === undefined ? null : ratioText(claim.ratio, claim.quartiles);
  };
  const columns = [32, 1].flatMap((connections) => kinds.map((kind) => ({ kind, connections })));
  const heads = columns.map(({ kind, connections }) => `${kind}, ${countOf(connections)}: ${connections === 1 ? 'p50' : 'calls/s'}`);
  return table(
    [`${way.replace('toolcrib', 'Toolcrib')}, of (middle half)`, ...heads],
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
