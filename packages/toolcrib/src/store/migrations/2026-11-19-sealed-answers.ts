import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { DialectName } from '../database.ts';

/** [SEC-3] Answers and artifacts are sealed, and counted together. What there is already is sealed by the next start, which has the keys. */
export function sealedAnswers(dialect: DialectName): Migration {
  const whole = dialect === 'sqlite' ? 'integer' : 'bigint';
  return {
    async up({ schema }: Kysely<unknown>) {
      await schema
        .alterTable('answers')
        .addColumn('bytes', whole, (column) => column.notNull().defaultTo(-1))
        .execute();
      await schema
        .alterTable('artifacts')
        .addColumn('sealed', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
      // They hold all that is asked for, so that nobody reads past large values.
      await schema
        .createIndex('answers_owner_bytes')
        .on('answers')
        .columns(['owner', 'created_at', 'call_id', 'bytes'])
        .where(sql.ref('bytes'), '>', sql.lit(0))
        .execute();
      await schema.createIndex('answers_unsealed').on('answers').column('call_id').where(sql.ref('bytes'), '<', sql.lit(0)).execute();
      await schema
        .createIndex('artifacts_unsealed')
        .on('artifacts')
        .columns(['call_id', 'n'])
        .where(sql.ref('sealed'), '=', sql.lit(0))
        .execute();
    },
  };
}
