import type { Metric, Registry } from 'prom-client';

interface QuickHistogramInput {
  name: string;
  help: string;
  /** Upper bounds, in seconds, the smallest first. */
  buckets: readonly number[];
  /** The label that tells its series apart; without one there is a single series. */
  label?: string;
  registry: Registry;
}

/** One series: an observation costs two additions and a short search. */
export class HistogramSeries {
  readonly #bounds: readonly number[];
  /** How many values each bucket has, without those of the buckets before; the last is for values above every bound. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let place = 0;
    while (place < bounds.length && value > (bounds[place] ?? 0)) place++;
    this.counts[place] = (this.counts[place] ?? 0) + 1;
    this.sum += value;
  }
}

/** [OPS-1] Like the library's histogram, which looks up labels and series by name for every observation: each call makes three. */
export class QuickHistogram {
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly name: string;
  readonly help: string;
  readonly #bounds: readonly number[];
  readonly #label: string | undefined;
  readonly #series = new Map<string, HistogramSeries>();

  constructor({ name, help, buckets, label, registry }: QuickHistogramInput) {
    [this.name, this.help, this.#bounds, this.#label] = [name, help, buckets, label];
    if (label === undefined) this.series('');
    registry.registerMetric(this as unknown as Metric);
  }

  series(value: string): HistogramSeries {
    let series = this.#series.get(value);
    if (series === undefined) {
      series = new HistogramSeries(this.#bounds);
      this.#series.set(value, series);
    }
    return series;
  }

  remove(value: string): void {
    this.#series.delete(value);
  }

  reset(): void {
    this.#series.clear();
    if (this.#label === undefined) this.series('');
  }

  /** In the form that the registry writes. */
  async get() {
    const values = [...this.#series].flatMap(([value, series]) =>
      this.#valuesOf(this.#label === undefined ? {} : { [this.#label]: value }, series),
    );
    return { name: this.name, help: this.help, type: this.type, aggregator: this.aggregator, values };
  }

  #valuesOf(labels: Record<string, string>, { counts, sum }: HistogramSeries) {
    let count = 0;
    const buckets = counts.map((inBucket, place) => {
      count += inBucket;
      return { metricName: `${this.name}_bucket`, labels: { ...labels, le: this.#bounds[place] ?? '+Inf' }, value: count };
    });
    return [...buckets, { metricName: `${this.name}_sum`, labels, value: sum }, { metricName: `${this.name}_count`, labels, value: count }];
  }
}
