import type { LoadProcess } from './load-process.ts';
import type { LoadReport, PreparedRequest } from './load.ts';
import { pinToCore } from './pin-to-core.ts';
import { median, quantile } from './quantile.ts';
import type { ServerProcess } from './server-process.ts';

export interface Contestant {
  name: string;
  /** True if another process works for this server, which then cannot be told apart from noise. */
  hasCompanion?: boolean;
  /** True if a failure is reported and ends only this contestant. */
  mayFail?: boolean;
  /** Those of `connectionCounts` that it takes part in; all by default. */
  connections?: readonly number[];
  run(spell: Spell): Promise<LoadReport>;
  /** Called after the first warm-up, when all of its threads are there. */
  warmedUp?(): void;
}

/** One time that a contestant is at work. */
export interface Spell {
  connections: number;
  warmUpSeconds: number;
  measuredSeconds: number;
}

interface HttpContestant {
  load: LoadProcess;
  name: string;
  server: ServerProcess;
  requests: PreparedRequest[];
  companions?: readonly number[];
  /** How many calls precede the measured part of every turn. By default one per user, so that no token is verified for the first time in the
   * measured part. */
  warmUpCalls?: number;
}

/** A contestant that the load program calls over HTTP. */
export function overHttp({ load, name, server, requests, companions = [], warmUpCalls = requests.length }: HttpContestant): Contestant {
  const { port, pid } = server;
  return {
    name,
    warmedUp: () => pinToCore(pid, 0),
    run({ connections, warmUpSeconds, measuredSeconds }) {
      const warmUp = { calls: warmUpCalls, seconds: warmUpSeconds };
      return load.run({ port, pid, companions, connections, requests, warmUp, measured: { calls: 0, seconds: measuredSeconds } });
    },
  };
}

export interface CallFigures {
  name: string;
  connections: number;
  /** The ratio to bare Fastify in the same turn, then the median of all turns: noise that lasts longer than a turn cancels out. */
  ratio_to_fastify: number;
  /** Half of the turns are between these two. */
  ratio_quartiles: [number, number];
  calls_per_second: number;
  p50_us: number;
  p90_us: number;
  p99_us: number;
  server_cpu_seconds_per_1000_calls: number | null;
  cpu_ratio_to_fastify: number | null;
  /** Of the process behind the gateway. */
  upstream_cpu_seconds_per_1000_calls: number | null;
  memory_under_load_mb: number | null;
  /** Cores used by the load program, and by everything else on the machine. */
  load_cpu: number;
  other_cpu: number | null;
}

export interface CallMeasurement {
  figures: CallFigures[];
  turns: { kept: number; made: number };
  /** How many calls each contestant has answered, including the warm-up and dropped turns. */
  answered: Map<string, number>;
  /** Contestants that failed, and why; they have no figures. */
  failed: Map<string, string>;
  /** Compares two contestants turn by turn; undefined if one of them has no figures. */
  compare: Compare;
}

/** What two contestants are compared by. */
export type Measure = 'callsPerSecond' | 'p50Us';

export interface Comparison {
  connections: number;
  measure: Measure;
  own: string;
  other: string;
  /** Own to other within each turn: the median of all turns, and the range of their middle half. */
  ratio: number;
  quartiles: [number, number];
}

export type Compare = (claim: Pick<Comparison, 'connections' | 'measure' | 'own' | 'other'>) => Comparison | undefined;

interface MeasureOptions {
  rounds: number;
  seconds: number;
  /** The maximum number of turns, as a multiple of the wanted ones, to get quiet ones. */
  patience?: number;
  /** The time before anything is measured: the first calls include compilation. */
  firstWarmUpSeconds?: number;
}

/** One report of each contestant, made right after each other. */
type Turn = Map<string, LoadReport>;

export const baseline = 'fastify-echo';
const connectionCounts = [32, 1];
/** Long enough to count, short enough that other load affects all contestants of one turn equally. */
const turnSeconds = 0.5;
/** A turn during which anything else used more cores than this is repeated, up to the maximum. */
const quiet = 0.2;

/** Each round gives every contestant `seconds` of measured time at each number of connections, in short turns. */
export async function measureCalls(
  contestants: Contestant[],
  { rounds, seconds, patience = 2, firstWarmUpSeconds = 3 }: MeasureOptions,
): Promise<CallMeasurement> {
  const answered = new Map<string, number>();
  const failed = new Map<string, string>();
  const run = async ({ name, mayFail = false, run: measure }: Contestant, spell: Spell): Promise<LoadReport | undefined> => {
    try {
      const report = await measure(spell);
      answered.set(name, (answered.get(name) ?? 0) + report.allCalls);
      return report;
    } catch (error) {
      if (!mayFail) throw new Error(`${name} failed`, { cause: error });
      failed.set(name, (error as Error).message);
      return undefined;
    }
  };
  const takingPart = (connections: number) =>
    contestants.filter((one) => one.connections?.includes(connections) !== false && !failed.has(one.name));
  const makeTurn = async (connections: number, order: Contestant[]) => {
    const turn: Turn = new Map();
    const spell = { connections, warmUpSeconds: 0, measuredSeconds: turnSeconds };
    for (const contestant of order) {
      const report = await run(contestant, spell);
      if (report !== undefined) turn.set(contestant.name, report);
    }
    return turn;
  };
  for (const connections of connectionCounts) {
    const spell = { connections, warmUpSeconds: firstWarmUpSeconds, measuredSeconds: 0 };
    for (const contestant of takingPart(connections)) await run(contestant, spell);
  }
  for (const contestant of contestants) contestant.warmedUp?.();

  const wanted = Math.max(1, Math.round((rounds * seconds) / turnSeconds));
  const made = new Map(connectionCounts.map((connections): [number, Turn[]] => [connections, []]));
  const alone = contestants.filter(({ hasCompanion }) => !hasCompanion).map(({ name }) => name);
  const noise = (turn: Turn) => Math.max(...alone.map((name) => turn.get(name)?.otherCpuShare ?? 0));
  const isEnough = (turns: Turn[]) => turns.filter((turn) => noise(turn) < quiet).length >= wanted || turns.length >= wanted * patience;
  while (![...made.values()].every(isEnough)) {
    for (const [connections, turns] of made) {
      if (isEnough(turns)) continue;
      // Every other turn runs in reverse, so that a machine that slowly gets busier favours nobody.
      turns.push(await makeTurn(connections, turns.length % 2 === 0 ? takingPart(connections) : takingPart(connections).toReversed()));
    }
    const most = Math.max(...[...made.values()].map((turns) => turns.length));
    if (most % 10 === 0) console.error(`calls: ${most} turns done, ${wanted} quiet ones wanted`);
  }
  // Chosen by their noise, never by their results.
  const kept = new Map(
    [...made].map(([connections, turns]) => [connections, turns.toSorted((a, b) => noise(a) - noise(b)).slice(0, wanted)]),
  );
  const figures = [...kept].flatMap(([connections, turns]) => {
    const of = (name: string) => turns.map((turn) => turn.get(name)).filter((report) => report !== undefined);
    return takingPart(connections).map(({ name }) => summarise(name, connections, of(name), of(baseline)));
  });
  const compare: Compare = (claim) => compareTurns(claim, failed.has(claim.other) ? [] : (kept.get(claim.connections) ?? []));
  const total = [...made.values()].reduce((sum, turns) => sum + turns.length, 0);
  return { figures, turns: { kept: wanted * made.size, made: total }, answered, failed, compare };
}

function compareTurns(claim: Parameters<Compare>[0], turns: Turn[]): Comparison | undefined {
  const ratios = turns.flatMap((turn) => {
    const [own, other] = [turn.get(claim.own), turn.get(claim.other)];
    return own === undefined || other === undefined ? [] : [own[claim.measure] / other[claim.measure]];
  });
  return ratios.length === 0 ? undefined : { ...claim, ...middleHalf(ratios) };
}

function middleHalf(ratios: number[]): Pick<Comparison, 'ratio' | 'quartiles'> {
  const sorted = ratios.toSorted((a, b) => a - b);
  const at = (part: number) => rounded(quantile(sorted, part), 3);
  return { ratio: at(0.5), quartiles: [at(0.25), at(0.75)] };
}

function summarise(name: string, connections: number, own: LoadReport[], base: LoadReport[]): CallFigures {
  const middle = (pick: (report: LoadReport) => number, digits = 0) => rounded(median(own.map(pick)), digits);
  const { ratio, quartiles } = middleHalf(
    own.map(({ callsPerSecond }, turn) => callsPerSecond / (base[turn]?.callsPerSecond ?? Number.NaN)),
  );
  const cpu = per1000(own, 'serverCpuSeconds');
  const isKnown = !Number.isNaN(cpu);
  const upstream = per1000(own, 'companionCpuSeconds');
  return {
    name,
    connections,
    ratio_to_fastify: ratio,
    ratio_quartiles: quartiles,
    calls_per_second: middle(({ callsPerSecond }) => callsPerSecond),
    p50_us: middle(({ p50Us }) => p50Us),
    p90_us: middle(({ p90Us }) => p90Us),
    p99_us: middle(({ p99Us }) => p99Us),
    server_cpu_seconds_per_1000_calls: isKnown ? rounded(cpu, 4) : null,
    upstream_cpu_seconds_per_1000_calls: Number.isNaN(upstream) ? null : rounded(upstream, 4),
    cpu_ratio_to_fastify: isKnown ? rounded(cpu / per1000(base, 'serverCpuSeconds'), 2) : null,
    memory_under_load_mb: isKnown ? Math.max(...own.map(({ serverRssMb }) => serverRssMb ?? 0)) : null,
    load_cpu: middle(({ loadCpuShare }) => loadCpuShare, 2),
    other_cpu: isKnown ? middle(({ otherCpuShare }) => otherCpuShare ?? Number.NaN, 2) : null,
  };
}

/** Over all turns together, because the ticks of the system are too coarse for one. */
function per1000(reports: LoadReport[], which: 'serverCpuSeconds' | 'companionCpuSeconds'): number {
  const seconds = reports.reduce((sum, report) => sum + (report[which] ?? Number.NaN), 0);
  return (seconds / reports.reduce((sum, { calls }) => sum + calls, 0)) * 1000;
}

function rounded(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
