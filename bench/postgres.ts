import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

export interface BenchDatabase extends AsyncDisposable {
  readonly url: string;
  /** How durable its commits are, which the figures depend on. */
  readonly settings: string;
}

/** A new, empty database on the server that the tests use, dropped afterwards; undefined without such a server. */
export async function freshPostgres(serverUrl: string | undefined): Promise<BenchDatabase | undefined> {
  if (serverUrl === undefined || serverUrl === '') return undefined;
  const name = `toolcrib_bench_${randomBytes(6).toString('hex')}`;
  const run = async (statement: string): Promise<Record<string, string>[]> => {
    const client = new Client({ connectionString: serverUrl });
    await client.connect();
    try {
      return (await client.query<Record<string, string>>(statement)).rows;
    } finally {
      await client.end();
    }
  };
  await run(`create database ${name}`);
  const [settings] = await run(
    `select concat('fsync ', current_setting('fsync'), ', synchronous_commit ', current_setting('synchronous_commit')) as text`,
  );
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    settings: settings?.['text'] ?? '',
    [Symbol.asyncDispose]: async () => void (await run(`drop database if exists ${name} with (force)`)),
  };
}
