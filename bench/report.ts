import type { CallFigures } from './measure-calls.ts';
import type { ListFigures } from './measure-listing.ts';
import type { StartFigures } from './measure-start.ts';

export interface Results {
  measured_at: string;
  machine: string;
  command: string;
  postgres: string | null;
  /** Of the call path: the turns with the least noise were kept. */
  turns: { kept: number; made: number };
  calls: CallFigures[];
  start: StartFigures[];
  list: ListFigures[];
  targets: Target[];
}

export interface Target {
  target: string;
  measured: string;
  met: boolean;
}

/** Our targets. They are reported, never asserted: the speed of a machine does not make a change right or wrong. */
export function targets({ calls, start, list }: Pick<Results, 'calls' | 'start' | 'list'>): Target[] {
  const found: Target[] = [];
  const call = calls.find(({ name, connections }) => name === 'toolcrib-sqlite' && connections === 32);
  if (call) {
    const { ratio_to_fastify: ratio, ratio_quartiles: quartiles } = call;
    const measured = ratioText(ratio, quartiles);
    found.push({ target: 'calls at 32 connections: at least 0.6 of bare Fastify', measured, met: ratio >= 0.6 });
  }
  for (const { form, idle_memory_mb: memory, warm_ready_ms: ready } of start) {
    if (memory !== null) found.push({ target: `idle memory from ${form}: below 100 MB`, measured: `${memory} MB`, met: memory < 100 });
    found.push({ target: `ready from ${form}, warm: below 1 s`, measured: `${ready} ms`, met: ready < 1000 });
  }
  for (const { answer, p50_ms: p50 } of list) {
    found.push({ target: `list of 1,000 of 10,000 tools, ${answer}: p50 below 5 ms`, measured: `${p50} ms`, met: p50 < 5 });
  }
  return found;
}

/** The results as the tables of README.md. */
export function toMarkdown(results: Results): string {
  const sections: string[] = [`${results.machine}; \`${results.command}\``];
  for (const connections of [32, 1]) {
    const rows = results.calls.filter((figures) => figures.connections === connections);
    if (rows.length > 0) sections.push(callTable(connections, rows));
  }
  if (results.turns.made > 0) sections.push(`Of ${results.turns.made} turns the ${results.turns.kept} with the least noise were kept.`);
  if (results.postgres !== null) sections.push(`PostgreSQL ran on the same machine with ${results.postgres}.`);
  if (results.start.length > 0) {
    const rows = results.start.map((row) => [row.form, row.first_ready_ms, row.warm_ready_ms, row.idle_memory_mb]);
    sections.push(table(['`toolcrib serve` from', 'first start: ready ms', 'warm start: ready ms', 'idle memory MB'], rows));
  }
  if (results.list.length > 0) {
    const rows = results.list.map((row) => [row.answer, row.bytes, row.p50_ms, row.p99_ms]);
    sections.push(table(['list of 1,000 of 10,000 tools', 'bytes', 'p50 ms', 'p99 ms'], rows));
  }
  sections.push(verdictTable(results.targets));
  return sections.join('\n\n');
}

function callTable(connections: number, rows: CallFigures[]): string {
  const heads = [countOf(connections), ...callHeads, 'memory under load MB', 'cores: load program', 'cores: anything else'];
  return table(
    heads,
    rows.map((row) => [row.name, ...callCells(row), row.memory_under_load_mb, row.load_cpu, row.other_cpu]),
  );
}

export function verdictTable(targets: readonly Target[]): string {
  return table(
    ['target', 'measured', 'met'],
    targets.map(({ target, measured, met }) => [target, measured, met ? 'yes' : 'no']),
  );
}

export function countOf(connections: number): string {
  return connections === 1 ? '1 connection' : `${connections} connections`;
}

/** The columns of every table of calls. */
export const callHeads = [
  '**of bare Fastify** (middle half)',
  'calls/s',
  'p50 µs',
  'p90 µs',
  'p99 µs',
  'CPU s per 1,000 calls',
  'CPU per call, bare Fastify = 1',
];

export function callCells(row: CallFigures): (string | number | null)[] {
  return [
    ratioText(`**${row.ratio_to_fastify.toFixed(2)}**`, row.ratio_quartiles),
    row.calls_per_second,
    row.p50_us,
    row.p90_us,
    row.p99_us,
    row.server_cpu_seconds_per_1000_calls,
    row.cpu_ratio_to_fastify,
  ];
}

/** A ratio with its middle half: without it, nobody can tell a difference from noise. */
export function ratioText(ratio: number | string, quartiles: readonly number[]): string {
  const middle = typeof ratio === 'string' ? ratio : ratio.toFixed(2);
  return `${middle} (${quartiles.map((quartile) => quartile.toFixed(2)).join('–')})`;
}

export function table(heads: string[], rows: (string | number | null)[][]): string {
  const line = (cells: (string | number | null)[]) => `| ${cells.map((cell) => cell?.toLocaleString('en') ?? '–').join(' | ')} |`;
  return [line(heads), `|${heads.map((_head, column) => (column === 0 ? '---' : '---:')).join('|')}|`, ...rows.map(line)].join('\n');
}
