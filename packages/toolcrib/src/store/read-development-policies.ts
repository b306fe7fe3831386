import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const query = "select id from policies where managed_by = 'development' order by id";

/** The ids of policies that were last saved in development, read without opening the database as a server does, which would upgrade it. */
export async function readDevelopmentPolicies(place: { file: string } | { url: string }, timeoutMs: number): Promise<string[]> {
  if ('file' in place) {
    if (!existsSync(place.file)) return [];
    using database = new DatabaseSync(place.file, { readOnly: true, timeout: timeoutMs });
    return database
      .prepare(query)
      .all()
      .map(({ id }) => String(id));
  }
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: place.url, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<{ id: string }>(query)).rows.map(({ id }) => id);
  } finally {
    await client.end().catch(() => undefined);
  }
}
