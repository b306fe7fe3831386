import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { openCrib } from '../../src/crib.ts';
import { sourceFormSchema } from '../../src/sources/source-forms.ts';
import { fixture } from '../fixtures/open-server.ts';
import { samplePrincipal } from '../fixtures/samples.ts';
import { temporaryDirectory, until } from '../running-server.ts';

const firstMs = 40;

test('[INV-1] [SEC-4] a server that keeps changing its tools is asked less and less often, and leaves few lines in the record', async () => {
  await using folder = await temporaryDirectory();
  const crib = await openCrib({
    dataDir: folder.path,
    keys: `k1:${randomBytes(32).toString('base64')}`,
    limits: { principal: {}, defaultTimeoutMs: 60_000, maxTimeoutMs: 60_000 },
    responseBytes: 1_048_576,
    artifacts: { bytesPerPrincipal: 0, days: 1 },
    retentionDays: 90,
    refreshPauses: { firstMs, longestMs: 60_000, quietMs: 60_000 },
    warn: () => undefined,
  });
  await using _closed = { [Symbol.asyncDispose]: () => crib.close({ drainMs: 0 }) };
  const form = { source_type: 'mcp', name: 'Flapping', mcp_command: fixture('flaps', '2'), mcp_lifecycle_mode: 'singleton' };
  const { id } = await crib.sources.register(samplePrincipal({ sub: 'admin' }), sourceFormSchema.parse(form));
  const refreshes = async () => {
    const { length } = (await crib.store.events.list({ limit: 1000 })).filter(
      ({ kind, subject }) => kind === 'source-refreshed' && subject === id,
    );
    return length;
  };
  const before = await until(async () => (await refreshes()) || undefined);
  const begun = performance.now();
  // The first list, the first change at once, then pauses of 1, 2, 4, 8 … times the first.
  const seen = await until(async () => {
    const count = await refreshes();
    return count >= 7 && count;
  });
  const elapsed = performance.now() - begun;
  expect(seen - before).toBeLessThanOrEqual(2 + Math.log2(elapsed / firstMs));
});
