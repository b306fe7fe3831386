import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { createPostgresDurable } from '../../src/durable/dbos/postgres-durable.ts';
import { openDurable } from '../../src/durable/open-durable.ts';
import type { WorkerNews, WorkerOrders } from '../fixtures/durable-worker.ts';
import { until, untilSeen } from '../running-server.ts';
import { describeStore } from './store-dialects.ts';

const program = new URL('../fixtures/durable-worker.ts', import.meta.url).pathname;
const twoHoursMs = 7_200_000;

class Worker {
  readonly news: WorkerNews[] = [];
  readonly child: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor(orders: WorkerOrders) {
    this.child = fork(program, [JSON.stringify(orders)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.child.on('message', (news) => this.news.push(news as WorkerNews));
    this.#ended = once(this.child, 'exit');
  }

  async at(place: string): Promise<void> {
    await untilSeen(() => this.news.some((news) => 'at' in news && news.at === place));
  }

  async ending(id: string): Promise<WorkerNews | undefined> {
    const find = () => this.news.find((news) => 'ended' in news && news.ended === id);
    await untilSeen(() => find() !== undefined);
    return find();
  }

  get effects(): string[] {
    return this.news.flatMap((news) => ('effect' in news ? [news.effect] : []));
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.child.kill(signal);
    await this.#ended;
  }
}

const all = ['ordered', 'refused', 'looked'];
const done = { order: { id: 'order-7' }, refusal: 'It is in the oven (409)', state: 'ready' };

/** Where a worker is killed: at a place it tells of, or once a step of it was written down. */
type Killing = { at: NonNullable<WorkerOrders['stopAt']> } | { noted: string };

describeStore('[OPS-2] jobs', ({ name, place, open }) => {
  const workers: Worker[] = [];
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.end('SIGKILL')));
  });

  function start(orders: Omit<WorkerOrders, 'place'>): Worker {
    const worker = new Worker({ place: place(), ...orders });
    workers.push(worker);
    return worker;
  }

  /** Where there can be two, the one that will go on has been there all the time. Its clock jumps ahead, so that no pause lasts. */
  async function standIn(): Promise<() => Worker> {
    const later = () => start({ jumpsMs: twoHoursMs });
    if (name === 'sqlite') return later;
    const worker = later();
    await worker.at('ready');
    return () => worker;
  }

  async function rows(asked: string): Promise<Record<string, unknown>[]> {
    if (database.dialect === 'sqlite') return database.connection.prepare(asked).all();
    return (await database.pool.query<Record<string, unknown>>(asked)).rows;
  }

  async function noted(id: string, step: string): Promise<void> {
    const asked =
      name === 'sqlite'
        ? `select name from durable_steps where job_id = '${id}'`
        : `select function_name as name from toolcrib_durable.operation_outputs where workflow_uuid = '${id}'`;
    await until(async () => (await rows(asked)).some((row) => String(row['name']).endsWith(step)));
  }

  async function forgotten(id: string): Promise<void> {
    const kept =
      name === 'sqlite'
        ? `select id from durable_jobs where id = '${id}' union all select job_id from durable_steps where job_id = '${id}'`
        : `select workflow_uuid from toolcrib_durable.workflow_status where workflow_uuid = '${id}'
           union all select workflow_uuid from toolcrib_durable.operation_outputs where workflow_uuid = '${id}'`;
    await until(async () => (await rows(kept)).length === 0);
  }

  async function endedAt(id: string, worker: Worker, killing: Killing, signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    await ('at' in killing ? worker.at(killing.at) : noted(id, killing.noted));
    await worker.end(signal);
  }

  const killings: { what: string; killing: Killing; effects: string[]; outcome: object }[] = [
    { what: 'a job killed before its first step runs once', killing: { at: 'begun' }, effects: all, outcome: { result: done } },
    {
      what: 'a step killed after sending and before noting is not sent again, and its outcome is unknown',
      killing: { at: 'sent' },
      effects: ['ordered'],
      outcome: { error: 'UnknownOutcomeError' },
    },
    { what: 'a step that was noted is not repeated', killing: { at: 'noted' }, effects: all, outcome: { result: done } },
    {
      what: 'a pause ends when it would have ended, and a failure stays the same failure',
      killing: { noted: 'pause' },
      effects: all,
      outcome: { result: done },
    },
  ];

  test.each(killings)('[POLL-2] [WF-2] are safe to kill: $what', async ({ killing, effects, outcome }) => {
    const id = `killed-${Object.values(killing).join('-')}`;
    const next = await standIn();
    const first = start({ begin: id, ...('at' in killing ? { stopAt: killing.at } : {}) });
    await endedAt(id, first, killing);
    const second = next();
    expect(await second.ending(id)).toEqual({ ended: id, ...outcome });
    expect([...first.effects, ...second.effects]).toEqual(effects);
  });

  test('repeat a step that may be repeated', async () => {
    const id = 'killed-twice';
    const first = start({ begin: id });
    await endedAt(id, first, { noted: 'pause' });
    const second = start({ stopAt: 'looked', jumpsMs: twoHoursMs });
    await endedAt(id, second, { at: 'looked' });
    const third = start({ jumpsMs: twoHoursMs });
    expect(await third.ending(id)).toEqual({ ended: id, result: done });
    expect([first, second, third].flatMap(({ effects }) => effects)).toEqual([...all, 'looked']);
  });

  test('are left to the next server when a server stops', async () => {
    const id = 'stopped';
    const next = await standIn();
    const first = start({ begin: id });
    await endedAt(id, first, { noted: 'pause' }, 'SIGTERM');
    const second = next();
    expect(await second.ending(id)).toEqual({ ended: id, result: done });
    expect([...first.effects, ...second.effects]).toEqual(all);
  });

  // A machine that stands still, or is cut off, is not dead. Alone with its data, nobody could take over from it.
  test.runIf(name === 'postgres')('are not continued by a server that wakes up after another took over', async () => {
    const id = 'asleep';
    const next = await standIn();
    const first = start({ begin: id, stopAt: 'noted' });
    await first.at('noted');
    first.child.kill('SIGSTOP');
    const held = await rows(
      `select pid from pg_stat_activity where application_name = 'toolcrib-durable' and datname = current_database()`,
    );
    // The database takes it for gone; the other one is told the same, and comes back.
    for (const { pid } of held) await rows(`select pg_terminate_backend(${Number(pid)})`);
    const second = next();
    expect(await second.ending(id)).toEqual({ ended: id, result: done });
    await forgotten(id);
    first.child.kill('SIGCONT');
    first.child.send('go on');
    expect(await first.ending(id)).toMatchObject({ error: 'JobLeftError' });
    expect([...first.effects, ...second.effects]).toEqual(all);
  });

  test('are known to all servers until they end, and then nothing is kept', async () => {
    const id = 'forgotten';
    const first = start({ begin: id });
    await noted(id, 'pause');
    expect(await openDurable(database, () => undefined).unfinished()).toContain(id);
    await first.end('SIGKILL');
    await start({ jumpsMs: twoHoursMs }).ending(id);
    await forgotten(id);
    expect(await openDurable(database, () => undefined).unfinished()).not.toContain(id);
  });

  // As it happens where the connection was lost for a while: the other one finds the answer there, and forgets the job.
  test.runIf(name === 'postgres')('do not keep a server from closing after another one ended and forgot them', async () => {
    if (database.dialect !== 'postgres') return;
    const durable = createPostgresDurable({ database, warn: () => undefined, closeWithinMs: 100 });
    await durable.run({ id: 'elsewhere', input: '' }, () =>
      rows(`delete from toolcrib_durable.workflow_status where workflow_uuid = 'elsewhere'`),
    );
    await durable.close();
    expect(await durable.unfinished()).not.toContain('elsewhere');
  });
});
