import { expect, test } from 'vitest';
import { CribError } from '../../src/model/crib-error.ts';
import { HealthRecord } from '../../src/sources/upstream/health.ts';

const lost = new CribError('NETWORK_ERROR', 'lost');
const refused = new CribError('UNAUTHENTICATED', 'no', { upstreamStatus: 401 });
const forbidden = new CribError('FORBIDDEN', 'no', { upstreamStatus: 403 });

test.each<[string, (CribError | 'ok')[], string]>([
  ['nothing was seen', [], 'unknown'],
  ['it answered', ['ok'], 'healthy'],
  ['it failed once', ['ok', lost], 'degraded'],
  ['it failed twice', [lost, lost], 'degraded'],
  ['it failed three times in a row', ['ok', lost, lost, lost], 'unhealthy'],
  ['it failed three times, but not in a row', [lost, lost, 'ok', lost], 'degraded'],
  ['it answered again', [lost, lost, lost, 'ok'], 'healthy'],
  ['it does not accept who we are', ['ok', refused], 'unauthenticated'],
  ['it forbids what we are', [forbidden], 'unauthenticated'],
  ['it accepts us again', [refused, 'ok'], 'healthy'],
])('[LIFE-1] the health is right when %s', (_when, happened, health) => {
  const record = new HealthRecord();
  for (const one of happened) {
    if (one === 'ok') record.succeeded();
    else record.failed(one);
  }
  expect(record.health).toBe(health);
});
