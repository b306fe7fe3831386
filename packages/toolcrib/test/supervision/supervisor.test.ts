import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SourceRecord } from '../../src/model/source.ts';
import { McpSource } from '../../src/sources/mcp/mcp-source.ts';
import { createSupervisor } from '../../src/supervision/supervisor.ts';
import { temporaryDirectory, untilSeen } from '../running-server.ts';
import { createOpener, localSource } from './supervise-fixture.ts';

type LocalSource = ReturnType<typeof localSource>;

/** Many supervised sources with real processes behind them, all stopped when it is disposed of. */
function superviseMany() {
  const openers = new Map<string, ReturnType<typeof createOpener>>();
  const released: string[] = [];
  function openerOf(id: string): ReturnType<typeof createOpener> {
    const opener = openers.get(id) ?? createOpener();
    openers.set(id, opener);
    return opener;
  }
  const supervisor = createSupervisor({
    open(source, host) {
      const local = source as LocalSource;
      return new McpSource({
        definition: local.definition,
        host,
        open: (signal) => openerOf(source.id).open(local, signal),
        release: async () => undefined,
        sessionKeyOf: async ({ key }) => ({ owner: key, key, revision: '', until: Number.POSITIVE_INFINITY }),
      });
    },
    onDiscovered: async () => undefined,
    countTools: () => 0,
    onStatus: () => undefined,
    note: () => undefined,
    onReleased: (id) => void released.push(id),
  });
  return {
    supervisor,
    released,
    openerOf,
    follow: (...sources: SourceRecord[]) => supervisor.follow(new Map(sources.map((source) => [source.id, source]))),
    stateOf: (source: SourceRecord) => supervisor.statusOf(source.id)?.state,
    async [Symbol.asyncDispose]() {
      await supervisor.shutdownAll();
      for (const opener of openers.values()) opener[Symbol.dispose]();
    },
  };
}

const singleton = { lifecycle_mode: 'singleton' };
const changed = (source: LocalSource): LocalSource => ({ ...source, updated_at: source.updated_at + 1 });

test('a change that is reported twice at once starts one server', async () => {
  await using many = superviseMany();
  const source = localSource('plain', singleton);
  for (const version of [source, changed(source)]) {
    // As when an administrator changes it, and the database tells of that change before the administrator has been answered.
    many.follow(version);
    await many.supervisor.adopt(version);
    many.follow(version);
    await many.supervisor.start(source.id);
    expect(many.openerOf(source.id).living()).toHaveLength(1);
  }
  expect(many.openerOf(source.id).starts()).toBe(2);
});

test('a refresh of an unsupervised source is a rejection, which a casual caller can ignore', async () => {
  await using many = superviseMany();
  await expect(many.supervisor.refresh('nothing')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('[LIFE-8] a server that will not end holds up no other start', async () => {
  await using many = superviseMany();
  const [stubborn, replaced, other] = [
    localSource('stubborn', singleton),
    localSource('stubborn', singleton),
    localSource('plain', singleton),
  ];
  many.follow(stubborn, replaced);
  await untilSeen(() => many.stateOf(stubborn) === 'running' && many.stateOf(replaced) === 'running');
  many.follow(changed(replaced), other);
  await untilSeen(() => many.stateOf(other) === 'running');
  expect(many.openerOf(stubborn.id).living()).toHaveLength(1);
  await untilSeen(() => many.released.length === 1);
  expect(many.openerOf(stubborn.id).living()).toEqual([]);
  expect(many.released).toEqual([stubborn.id]);
});

test('[MC-T8] shutting down ends running servers, starting ones and those that have not begun', async () => {
  await using many = superviseMany();
  const sources = [localSource('plain', singleton), localSource('hang-handshake', singleton), localSource('forks 2', singleton)];
  many.follow(...sources);
  await untilSeen(() => many.stateOf(sources[0] as LocalSource) === 'running');
  const late = localSource('plain', singleton);
  many.follow(...sources, late);
  await many.supervisor.shutdownAll();
  for (const { id } of [...sources, late]) expect(many.openerOf(id).living()).toEqual([]);
  expect(many.supervisor.statusOf(late.id)).toBeUndefined();
});

test('[MCP-10] a server that is down when Toolcrib starts is retried, and one that cannot work is not', async () => {
  await using many = superviseMany();
  await using directory = await temporaryDirectory();
  const resilience = { restart: { maxAttempts: 50, backoffMs: 20 } };
  const file = join(directory.path, 'tools.json');
  const late = localSource(`from-file ${file}`, { ...singleton, resilience });
  const missing = localSource('plain', { ...singleton, resilience, command: ['no-such-program-anywhere'] });
  many.follow(late, missing);
  await untilSeen(() => many.openerOf(late.id).starts() > 1 && many.stateOf(missing) === 'error');
  await writeFile(file, '{"tools":[]}');
  await untilSeen(() => many.stateOf(late) === 'running');
  expect(many.stateOf(missing)).toBe('error');
});
