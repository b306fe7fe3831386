import { expect, test } from 'vitest';
import { createRedactor } from '../../src/secrets/redactor.ts';
import { sessionWire } from '../../src/sources/upstream/logs/session-wire.ts';
import { createWireLogs } from '../../src/sources/upstream/logs/wire-logs.ts';
import { untilSeen } from '../running-server.ts';

const longMs = 600_000;

function opened() {
  const redactors = createRedactor();
  redactors.forSource('files').add('secret-of-the-source');
  const wireLogs = createWireLogs({ redactors });
  return { wireLogs, wireLog: wireLogs.of('files') };
}

test('[OPS-1] [ENV-4] the wire log holds neither the secrets of the source nor the user’s token', () => {
  const { wireLog } = opened();
  const own = createRedactor();
  own.add('token-of-the-user');
  const wire = sessionWire(wireLog, own);
  expect(wire.log.on).toBe(false);
  wireLog.start(Date.now() + longMs);
  expect(wire.log.on).toBe(true);
  wire.note('received', { result: { content: [{ type: 'text', text: 'it has token-of-the-user and secret-of-the-source' }] } });
  const [, line] = wireLog.log.tail(2);
  expect(line).toMatchObject({ stream: 'received', text: expect.stringContaining('it has *** and ***') });
  wireLog.stop();
});

test('[OPS-1] the wire log ends by itself, and says so', async () => {
  const { wireLog } = opened();
  wireLog.start(Date.now() + 1);
  await untilSeen(() => !wireLog.on);
  expect(wireLog.until).toBeNull();
  expect(wireLog.log.tail(1)).toMatchObject([{ stream: 'event', text: 'Messages are no longer logged' }]);
});

test('[OPS-1] the wire log is gone when its source is', () => {
  const { wireLogs, wireLog } = opened();
  wireLog.start(Date.now() + longMs);
  wireLogs.forget('files');
  expect(wireLog.on).toBe(false);
  expect(wireLogs.of('files').log.tail(10)).toEqual([]);
});
