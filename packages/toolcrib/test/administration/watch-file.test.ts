import { mkdir, readFile, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { watchFile } from '../../src/administration/configuration/watch-file.ts';
import { temporaryDirectory, untilSeen } from '../running-server.ts';

/** The reported contents of a watched file, in order; `!` if it could not be read. */
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

test('[SRC-6] a file behind a link to another folder, which sends no events, is polled', async () => {
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

test('[SRC-6] the watch goes on while the folder does not exist yet', async () => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, 'later', 'file');
  await using watch = watching(path, { pollMs: 20 });
  await untilSeen(() => watch.told.length > 0);
  await mkdir(join(folder.path, 'later'));
  await writeFile(path, 'first');
  await untilSeen(() => watch.told.length > 1);
  expect(watch.told).toEqual(['!', 'first']);
});

test('[SRC-6] a half-written file is not read as finished', async () => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, 'file');
  await writeFile(path, 'first');
  // Every look finds it a little longer, until it is whole.
  const growing = ['s', 'se', 'sec', 'second'];
  await using watch = watching(path, { pollMs: 5, read: async () => (growing.length > 1 ? growing.shift() : growing[0]) ?? '' });
  await untilSeen(() => watch.told.length > 0);
  expect(watch.told).toEqual(['second']);
});

test('[SRC-6] a removed file is reported once, and again when it is back', async () => {
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
