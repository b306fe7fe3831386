import { parentPort, workerData } from 'node:worker_threads';
import { connectSqlite } from '../open-sqlite.ts';
import { createImporter, type Importer } from './importer.ts';
import type { ImportThreadData, ThreadMessage } from './import-thread.ts';
import { knownPosition, type Place } from './position.ts';

/** The program of the thread that brings the journal into the database. */
const { databaseFile, newest, folder, server, head } = workerData as ImportThreadData;
const keys = { newest, find: (kid: string) => (kid === newest.kid ? newest.key : undefined) };
const database = connectSqlite(databaseFile);
let importer: Importer | undefined;

function send(message: ThreadMessage): void {
  parentPort?.postMessage(message, []);
}

async function open(): Promise<Importer> {
  const from = await knownPosition({ database, keys, server });
  return createImporter({ database, databaseFile, keys, folder, from, head, warn: (warning) => send({ warning }) });
}

async function perform(place: Place): Promise<void> {
  try {
    importer ??= await open();
    send({ imported: await importer.importUpTo(place) });
  } catch (error) {
    const { message, code, errcode } = error as NodeJS.ErrnoException & { errcode?: number };
    send({ failed: { message, code, errcode } });
  }
}

async function close(): Promise<void> {
  importer?.[Symbol.dispose]();
  await database.close();
  parentPort?.close();
}

let turn: Promise<void> = Promise.resolve();
parentPort?.on('message', (message: Place | 'close') => {
  turn = turn.then(() => (message === 'close' ? close() : perform(message)));
});
