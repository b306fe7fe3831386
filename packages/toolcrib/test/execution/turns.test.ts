import { describe, expect, test } from 'vitest';
import { createTurns, type Turns } from '../../src/execution/turns.ts';
import type { CallLimits } from '../../src/model/call-limits.ts';
import type { Tool } from '../../src/model/tool.ts';
import { samplePrincipal, sampleTool, toolWith } from '../fixtures/samples.ts';

const alice = samplePrincipal();
const limited = (name: string, limits: CallLimits | undefined, source_limits: CallLimits): Tool =>
  toolWith(sampleTool({ name, ...(limits === undefined ? {} : { limits }) }), { source_limits });
const settled = () => new Promise((resolve) => setImmediate(resolve));

function take(turns: Turns, tool: Tool) {
  turns.check(tool);
  return turns.take(tool, alice);
}

describe('[EXEC-7] the limits of a tool and of its source', () => {
  test('cost nothing if there are none', () => {
    expect(take(createTurns(), sampleTool())).toBeUndefined();
  });

  test('apply together, and a refusal by one is not charged to the other', () => {
    const clock = { ms: 0 };
    const turns = createTurns({ now: () => clock.ms });
    const read = limited('read', { rate_per_second: 0.001, burst: 2 }, { rate_per_second: 1, burst: 3 });
    const write = limited('write', undefined, read.source_limits);
    take(turns, write);
    take(turns, write);
    take(turns, read);
    for (let times = 0; times < 5; times++) expect(() => turns.check(read)).toThrow('The source of this tool may make 1 calls a second');
    clock.ms = 1000;
    take(turns, read);
    clock.ms = 2000;
    expect(() => turns.check(read)).toThrow('This tool may make');
  });

  test('are waited for one after the other, and a call that waits for its tool holds no slot of the source', async () => {
    const turns = createTurns();
    const source = { concurrency: 2, queue: 5 };
    const slow = limited('slow', { concurrency: 1, queue: 5 }, source);
    const quick = limited('quick', undefined, source);
    const first = take(turns, slow);
    const second = take(turns, slow);
    expect([first?.ready, second?.ready !== undefined, turns.waiting]).toEqual([undefined, true, 1]);
    const third = take(turns, quick);
    expect(third?.ready).toBeUndefined();
    first?.leave();
    await second?.ready;
    const fourth = take(turns, quick);
    expect(turns.waiting).toBe(1);
    third?.leave();
    await fourth?.ready;
    for (const turn of [second, fourth, first]) turn?.leave();
    expect(turns.waiting).toBe(0);
    expect(take(turns, slow)?.ready).toBeUndefined();
  });

  test('admit no call that left while it waited, for either of them', async () => {
    const turns = createTurns();
    const tool = limited('slow', { concurrency: 2, queue: 5 }, { concurrency: 1, queue: 5 });
    const running = take(turns, tool);
    const [atSource, atTool] = [take(turns, tool), take(turns, tool)];
    expect(turns.waiting).toBe(2);
    atTool?.leave();
    atSource?.leave();
    expect(turns.waiting).toBe(0);
    running?.leave();
    await settled();
    const again = [take(turns, tool), take(turns, tool)];
    expect(again.map((turn) => turn?.ready === undefined)).toEqual([true, false]);
  });

  test('refuse a waiting call when the breaker opens, without calling anything', () => {
    const turns = createTurns();
    const tool = limited('far', undefined, { breaker: { failures: 1, open_ms: 60_000 } });
    const [early, late] = [take(turns, tool), take(turns, tool)];
    early?.begin();
    early?.end({ kind: 'failed', reason: 'refused', silent: false });
    expect(() => late?.begin()).toThrow('files keeps failing');
    expect(turns.breakerOf(tool.source_id)).toBe('open');
    expect(() => turns.check(tool)).toThrow('The last failure: refused');
  });

  test('include a breaker per tool that leaves the other tools of the source alone', () => {
    const turns = createTurns();
    const broken = limited('broken', { breaker: { failures: 1, open_ms: 60_000 } }, { breaker: { failures: 5, open_ms: 60_000 } });
    const turn = take(turns, broken);
    turn?.begin();
    turn?.end({ kind: 'failed', reason: 'refused', silent: false });
    expect(() => turns.check(broken)).toThrow('files:broken keeps failing');
    turns.check(limited('well', undefined, broken.source_limits));
  });
});
