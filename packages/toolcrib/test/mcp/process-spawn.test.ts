import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isMissing } from '../../src/sources/mcp/process/is-missing.ts';
import { spawnTurn } from '../../src/sources/mcp/process/spawn-turns.ts';

test('[LIFE-8] many starts at once happen one per turn of the event loop, second attempts last', async () => {
  const order: string[] = [];
  const start = async (name: string, later: boolean) => {
    await spawnTurn({ later });
    order.push(name);
  };
  const all = Promise.all([start('again', true), start('a', false), start('b', false)]);
  const turns: number[] = [];
  for (let turn = 0; turn < 4; turn++) {
    await new Promise(setImmediate);
    turns.push(order.length);
  }
  await all;
  expect(order).toEqual(['a', 'b', 'again']);
  expect(turns.every((count, turn) => count <= turn + 1)).toBe(true);
});

describe.skipIf(process.platform === 'win32')('[ERR-1] a missing program is noticed before a process is started', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-programs-'));
  writeFileSync(join(folder, 'there'), '');
  const table: [program: string, path: string | undefined, missing: boolean][] = [
    ['there', folder, false],
    ['there', `/no/such/folder:${folder}`, false],
    ['elsewhere', folder, true],
    [join(folder, 'there'), undefined, false],
    [join(folder, 'elsewhere'), folder, true],
    // Where it is not known where the system would look, the system is asked.
    ['elsewhere', undefined, false],
    ['elsewhere', '', false],
    ['elsewhere', `bin:${folder}`, false],
    ['./elsewhere', folder, false],
    ['', folder, false],
  ];
  test.each(table)('for %s in %s: %s', (program, path, missing) => {
    expect(isMissing(program, path)).toBe(missing);
  });
  test('even after its folder was removed', () => {
    rmSync(folder, { recursive: true });
    expect(isMissing('there', folder)).toBe(true);
  });
});
