import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { EndSwitch } from '../../src/model/end-signal.ts';
import { contextOf, failureOf, openBuiltins, reasonOf, structuredOf, textOf } from './builtin-caller.ts';

function at(iso: string) {
  return openBuiltins({ clock: { now: () => Date.parse(iso), sleep: () => Promise.resolve() } });
}

test.each([
  ['2026-07-01T12:00:00.123Z', 'Europe/Paris', '2026-07-01T14:00:00.123+02:00', '+02:00', 'Wednesday'],
  ['2026-01-01T12:00:00Z', 'Europe/Paris', '2026-01-01T13:00:00.000+01:00', '+01:00', 'Thursday'],
  ['2026-01-01T02:00:00Z', 'America/New_York', '2025-12-31T21:00:00.000-05:00', '-05:00', 'Wednesday'],
  ['2026-01-01T20:00:00Z', 'Asia/Kolkata', '2026-01-02T01:30:00.000+05:30', '+05:30', 'Friday'],
  ['2026-01-01T20:00:00Z', 'Asia/Kathmandu', '2026-01-02T01:45:00.000+05:45', '+05:45', 'Friday'],
  ['2026-01-01T12:00:00Z', 'Pacific/Kiritimati', '2026-01-02T02:00:00.000+14:00', '+14:00', 'Friday'],
  ['2026-01-01T12:00:00Z', 'UTC', '2026-01-01T12:00:00.000+00:00', '+00:00', 'Thursday'],
  ['2028-02-29T23:59:59.999Z', 'UTC', '2028-02-29T23:59:59.999+00:00', '+00:00', 'Tuesday'],
])('[BI-1] at %s the time in %s is %s', (now, time_zone, iso, utc_offset, weekday) => {
  const output = at(now).callNow('current_time', { time_zone });
  expect(structuredOf(output)).toEqual({ iso, time_zone, utc_offset, weekday, unix_ms: Date.parse(now) });
  expect(Date.parse(iso)).toBe(Date.parse(now));
  expect(textOf(output)).toBe(`${weekday}, ${iso} (${time_zone})`);
});

test('[BI-1] the zone is UTC by default, and its case does not matter', () => {
  const { callNow } = at('2026-01-01T12:00:00Z');
  expect(structuredOf(callNow('current_time', {}))).toMatchObject({ time_zone: 'UTC' });
  expect(structuredOf(callNow('current_time', { time_zone: 'europe/paris' }))).toMatchObject({ time_zone: 'Europe/Paris' });
});

test.each(['Mars/Olympus', 'constructor', '__proto__', 'Europe/Paris\u0000', '../etc/passwd', ' ', 'x'.repeat(64)])(
  '[BI-1] the zone %j is refused with what to pass instead',
  (time_zone) => {
    const text = failureOf(openBuiltins().callNow('current_time', { time_zone }));
    expect(text).toContain('Pass an IANA name such as "Europe/Paris"');
  },
);

test('[BI-1] hundreds of zones and spellings are all accepted', () => {
  const { callNow } = openBuiltins();
  for (const time_zone of Intl.supportedValuesOf('timeZone')) structuredOf(callNow('current_time', { time_zone }));
  expect(structuredOf(callNow('current_time', { time_zone: 'UTC' }))).toMatchObject({ time_zone: 'UTC' });
});

test.each([
  [0, []],
  [0.25, [0.25]],
  [1, [1]],
  [3.5, [1, 2, 3, 3.5]],
])('[BI-1] [MCP-9] wait %d reports every second and the end: %j', async (seconds, expected) => {
  let elapsed = 0;
  const clock = {
    now: () => 0,
    sleep(ms: number) {
      elapsed += ms;
      return Promise.resolve();
    },
  };
  const reported: { progress: number; total?: number }[] = [];
  const output = await openBuiltins({ clock }).call('wait', { seconds }, contextOf({ progress: (update) => void reported.push(update) }));
  expect(structuredOf(output)).toEqual({ waited_seconds: seconds });
  expect(reported).toEqual(expected.map((progress) => ({ progress, total: seconds })));
  expect(elapsed).toBe(seconds * 1000);
});

test('[BI-1] wait really waits, on the system clock', async () => {
  const output = await openBuiltins().call('wait', { seconds: 0.02 });
  expect(textOf(output)).toBe('Waited 0.02 seconds.');
});

test('[BI-1] wait ends as soon as its signal aborts, with the reason', async () => {
  const signal = new EndSwitch();
  const reason = new Error('the caller went away');
  // The first report of progress tells the test that the wait is under way; the real clock would go on for five minutes.
  const clock = { now: Date.now, sleep: (ms: number, signal: AbortSignal) => sleep(ms === 1000 ? 1 : ms, undefined, { signal }) };
  const context = contextOf({ signal, progress: () => signal.end(reason) });
  await expect(openBuiltins({ clock }).call('wait', { seconds: 300 }, context)).rejects.toBe(reason);

  await expect(openBuiltins().call('wait', { seconds: 300 }, contextOf({ signal }))).rejects.toBe(reason);
});

test('[BI-1] closing the source ends a wait', async () => {
  const builtins = openBuiltins();
  const waiting = reasonOf(builtins.call('wait', { seconds: 300 }));
  await builtins.close();
  expect(await waiting).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});
