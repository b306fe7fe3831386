import * as fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { QuickHistogram } from '../../src/http/quick-histogram.ts';

const described = { name: 'seconds', help: 'How long it took' };
const buckets = [0.1, 1, 10];

test('[OPS-1] a quick histogram is read like the one of the library', async () => {
  const observed = fc.array(fc.record({ source: fc.constantFrom('a', 'b'), value: fc.double({ min: 0, max: 20, noNaN: true }) }));
  await fc.assert(
    fc.asyncProperty(observed, async (values) => {
      const [own, library] = [new Registry(), new Registry()];
      const quick = new QuickHistogram({ ...described, buckets, label: 'source', registry: own });
      const usual = new Histogram({ ...described, buckets, labelNames: ['source'], registers: [library] });
      for (const { source, value } of values) {
        quick.series(source).observe(value);
        usual.observe({ source }, value);
      }
      expect(lines(await own.metrics())).toEqual(lines(await library.metrics()));
    }),
  );
});

test('[OPS-1] without a label it is there before the first value, and a series can be removed', async () => {
  const registry = new Registry();
  const quick = new QuickHistogram({ ...described, buckets, registry });
  expect(await registry.metrics()).toContain('seconds_count 0');
  quick.series('').observe(0.5);
  expect(await registry.metrics()).toContain('seconds_bucket{le="1"} 1');
  quick.remove('');
  expect(await registry.metrics()).not.toContain('seconds_count');
});

/** In whatever order: the label `le` may come before or after the others. */
function lines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/\{(.*)\}/, (_all, labels: string) => `{${labels.split(',').toSorted().join(',')}}`))
    .toSorted();
}
