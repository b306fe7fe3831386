import { resolve } from 'node:path';
import { moveToPostgres } from '../administration/backup/move-to-postgres.ts';
import { jsonOption } from './client-options.ts';
import { defineCommand } from './command.ts';
import { sayRecord } from './say-record.ts';
import { databaseFrom, keysFrom } from './serve-config.ts';
import { keysOption, placeOptions } from './serve-options.ts';
import { complain, print, printJson, remark } from './terminal.ts';
import { UsageError } from '../model/usage-error.ts';

export const migrate = defineCommand({
  operands: '',
  operandCount: [0, 0],
  options: { data: placeOptions.data, database: placeOptions.database, ...keysOption, ...jsonOption },
  notes: [
    'Stop the server first, and create an empty database. All rows are copied in one transaction and counted on both sides; then the record is verified.',
    'The SQLite database stays as it is. The keys stay where they are: the server on PostgreSQL needs the same ones.',
    'Exits with 1 if the record in PostgreSQL differs from what was written.',
  ],
  examples: ['toolcrib migrate --data /var/lib/toolcrib --database postgres://toolcrib@db.example.com/toolcrib'],
  async run(given) {
    const databaseUrl = databaseFrom(given);
    if (databaseUrl === undefined) throw new UsageError('Name the PostgreSQL database with --database', { field: 'database' });
    const dataDir = resolve(given.required('data'));
    const { rows, verdict } = await moveToPostgres({ dataDir, databaseUrl, keys: keysFrom(given), warn: complain });
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
    if (given.on('json')) printJson({ rows, record: verdict });
    else {
      for (const [table, count] of Object.entries(rows)) if (count > 0) print(`${String(count).padStart(10)}  ${table}`);
      print(`${String(total).padStart(10)}  rows copied and counted`);
      if (verdict.ok)
        remark(
          'The record is verified. Start the server with the same --data and --database, and keep toolcrib.db until it has run for a while.',
        );
    }
    return sayRecord(verdict);
  },
});
