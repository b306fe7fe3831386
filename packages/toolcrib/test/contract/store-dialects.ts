import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { freshPostgresDatabase, part } from '../parts.ts';

export interface DialectUnderTest {
  name: Database['dialect'];
  /** Where a database of its own is, for the tests of one `describe`; it can be opened any number of times. */
  place: () => { file: string } | { url: string };
  open: () => Promise<Database>;
}

/** Runs one suite on SQLite and on PostgreSQL, each with a fresh database. */
export function describeStore(title: string, suite: (dialect: DialectUnderTest) => void): void {
  describe(`${title} on SQLite`, () => {
    let directory = '';
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'toolcrib-store-'));
    });
    afterAll(() => rm(directory, { recursive: true, force: true }));
    const place = () => ({ file: join(directory, 'toolcrib.db') });
    suite({ name: 'sqlite', place, open: () => openDatabase(place()) });
  });

  const postgres = part('postgres');
  describe.skipIf(!postgres.available)(`${title} on PostgreSQL`, () => {
    let url = '';
    const cleanup = new AsyncDisposableStack();
    beforeAll(async () => {
      ({ url } = cleanup.use(await freshPostgresDatabase()));
    });
    afterAll(() => cleanup.disposeAsync());
    const place = () => ({ url });
    suite({ name: 'postgres', place, open: () => openDatabase(place()) });
  });
}
