import { mkdir, readFile, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { watchFile } from '../../src/administration/configuration/watch-file.ts';
import { temporaryDirectory, untilSeen } from '../running-server.ts';

/** What a watched file was said to hold, in order; `!` where it could not be read. */
function watching(path: string, options: { settleMs?: number; pollMs?: number; read?: (path: string) => Promise<string> } = {}) {
  const told: string[] = [];
  const watch = watchFile({
    path,
    read: (of) => readFile(of, 'utf8'),
    seen: 'first',
    onText: async (text) => void told.push(text),
    onUnreadable: () => told.push('!'),
    settleMs: 10,
    ...options,
  });
  return { told, [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose]() };
}

test('[SRC-6] a file behind a link to another folder, of which nobody tells, is looked at now and then', async () => {
  await using folder = await temporaryDirectory();
  await mkdir(join(folder.path, 'elsewhere'));
  const real = join(folder.path, 'elsewhere', 'file');
  await writeFile(real, 'first');
  await symlink(real, join(folder.path, 'link'));
  await using watch = watching(join(folder.path, 'link'), { pollMs: 20 });
  await writeFile(real, 'second');
  await untilSeen(() => watch.told.length > 0);
  expect(watch.told).toEqual(['second']);
});

test('[SRC-6] a folder that is not there is no reason to give up', async () => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, 'later', 'file');
  await using watch = watching(path, { pollMs: 20 });
  await untilSeen(() => watch.told.length > 0);
  await mkdir(join(folder.path, 'later'));
  await writeFile(path, 'first');
  await untilSeen(() => watch.told.length > 1);
  expect(watch.told).toEqual(['!', 'first']);
});

test('[SRC-6] what is half-written is not taken for finished', async () => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, 'file');
  await writeFile(path, 'first');
  // Every look finds it a little longer, until it is whole.
  const growing = ['s', 'se', 'sec', 'second'];
  await using watch = watching(path, { pollMs: 5, read: async () => (growing.length > 1 ? growing.shift() : growing[0]) ?? '' });
  await untilSeen(() => watch.told.length > 0);
  expect(watch.told).toEqual(['second']);
});

test('[SRC-6] a file that goes away is told of once, and again when it is back', async () => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, 'file');
  await writeFile(path, 'first');
  await using watch = watching(path, { pollMs: 20 });
  await unlink(path);
  await untilSeen(() => watch.told.length > 0);
  await writeFile(path, 'first');
  await untilSeen(() => watch.told.length > 1);
  expect(watch.told).toEqual(['!', 'first']);
});
