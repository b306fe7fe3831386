import { median, quantile } from './quantile.ts';
import { table, verdictTable, type Target } from './report.ts';

/** From the call to its answer. All kinds of one round were measured right after each other. */
export interface Sample {
  server: string;
  /** `exec` or `run`, then by whom. */
  way: string;
  round: number;
  took: number;
}

export interface WayFigures {
  server: string;
  way: string;
  p50_ms: number;
  p90_ms: number;
  /** The median divided by the median without Toolcrib. */
  of_bare: number;
  /** The quartiles of the ratios within each round: they show how noisy the machine was. */
  middle_half: [number, number];
}

export interface DockerResults {
  measured_at: string;
  machine: string;
  command: string;
  figures: WayFigures[];
  targets: Target[];
}

const rounded = (value: number, places: number) => Math.round(value * 10 ** places) / 10 ** places;

export function figuresOf(samples: readonly Sample[]): WayFigures[] {
  const times = Map.groupBy(samples, ({ server, way }) => `${server}\n${way}`);
  // Every other round is measured in reverse; the table has one order.
  const keys = [...times.keys()].sort((a, b) => a.localeCompare(b));
  const of = (server: string, way: string) => (times.get(`${server}\n${way}`) ?? []).map(({ took }) => took);
  const sortedUp = (values: number[]) => values.toSorted((a, b) => a - b);
  return keys.map((key) => {
    const [server = '', way = ''] = key.split('\n');
    const own = of(server, way);
    const sorted = sortedUp(own);
    const bare = of(server, `${way.split(',')[0]}, bare`);
    const ratios = sortedUp(own.map((took, round) => took / (bare[round] ?? Number.NaN)));
    return {
      server,
      way,
      p50_ms: rounded(median(sorted), 1),
      p90_ms: rounded(quantile(sorted, 0.9), 1),
      of_bare: rounded(median(sorted) / median(bare), 2),
      middle_half: [rounded(quantile(ratios, 0.25), 2), rounded(quantile(ratios, 0.75), 2)],
    };
  });
}

/** Our targets. They are reported, never asserted. */
export function dockerTargets(figures: readonly WayFigures[]): Target[] {
  return figures
    .filter(({ way }) => way.endsWith(', Toolcrib'))
    .map(({ server, way, of_bare: times }) => ({
      target: `${server}, ${way}: at most 1.2 of bare`,
      measured: times.toFixed(2),
      met: times <= 1.2,
    }));
}

export function dockerToMarkdown({ machine, command, figures, targets }: DockerResults): string {
  const rows = figures.map(({ server, way, p50_ms, p90_ms, of_bare, middle_half: [low, high] }) => {
    return [server, way, p50_ms, p90_ms, `**${of_bare.toFixed(2)}** (${low.toFixed(2)}–${high.toFixed(2)})`];
  });
  const heads = ['server in a container', 'from the call to its answer', 'p50 ms', 'p90 ms', '**of bare** (middle half)'];
  return [`${machine}; \`${command}\``, table(heads, rows), verdictTable(targets)].join('\n\n');
}
