import { once } from 'node:events';
import { createServer } from 'node:net';
import { issuerOrigins, type IssuerConfig } from '../identity/issuer-config.ts';
import { createIssuerMetadata } from '../identity/issuer-metadata.ts';
import { parseKeySet } from '../identity/parse-key-set.ts';
import { createEgress, type Egress } from '../net/egress.ts';
import { type Check, reasonOf } from './check.ts';
import { counted } from '../text/counted.ts';

const patienceMs = 5_000;

/** The port is free, or a Toolcrib is on it. */
export async function checkPort(host: string, port: number): Promise<Check> {
  const check = { name: 'port', required: true };
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const probe = createServer();
  try {
    probe.listen(port, host);
    await once(probe, 'listening');
    return { ...check, state: 'ok', detail: port === 0 ? 'any free one' : `${place} is free` };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE') return { ...check, state: 'broken', detail: reasonOf(error), cure: 'choose others with --host and --port' };
    if (await isToolcrib(`http://${place}`)) return { ...check, state: 'ok', detail: `a Toolcrib answers at http://${place}` };
    return { ...check, state: 'broken', detail: `something else listens on ${place}`, cure: 'stop it, or choose another port with --port' };
  } finally {
    probe.close();
  }
}

async function isToolcrib(url: string): Promise<boolean> {
  try {
    const limits = { maxBytes: 10_000_000, timeoutMs: patienceMs, allowInsecure: true };
    // It is the address that the server itself will have.
    const { fetchDocument } = createEgress({}).trusting([url]);
    const { body } = await fetchDocument(`${url}/api/openapi.json`, limits);
    return (JSON.parse(body) as { info?: { title?: unknown } }).info?.title === 'Toolcrib';
  } catch {
    return false;
  }
}

/** Only connects: opening the database as the server does would migrate its schema. */
export async function checkDatabase(url: string): Promise<Check> {
  const { host = '', pathname = '' } = URL.parse(url) ?? {};
  const check = { name: 'database', required: true };
  try {
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: patienceMs, query_timeout: patienceMs });
    // A connection that breaks later is reported as an event, which would otherwise end the process.
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ server_version: string }>('show server_version');
      return { ...check, state: 'ok', detail: `PostgreSQL ${rows[0]?.server_version} at ${host}${pathname}` };
    } finally {
      await client.end();
    }
  } catch (error) {
    const cure = 'check --database, and that PostgreSQL is running and accepts connections from this machine';
    return { ...check, state: 'broken', detail: `PostgreSQL at ${host}${pathname} cannot be used: ${reasonOf(error)}`, cure };
  }
}

export async function checkIssuer(config: IssuerConfig, egress: Egress): Promise<Check> {
  const { issuer, jwks_uri: jwksUri, allow_insecure: allowInsecure = false } = config;
  const { fetchDocument } = egress.trusting(issuerOrigins([config]));
  const check = { name: 'issuer', required: true };
  const limits = { maxBytes: 1_048_576, timeoutMs: patienceMs, allowInsecure };
  try {
    const address = jwksUri ?? (await createIssuerMetadata({ issuer, fetchDocument, ...limits }).get()).jwks_uri;
    const { status, body } = await fetchDocument(address, limits);
    if (status !== 200) throw new Error(`${address} answered with status ${status}`);
    const { keys } = parseKeySet(body);
    return { ...check, state: 'ok', detail: `${issuer} has ${counted(keys.length, 'key')}` };
  } catch (error) {
    const cure = 'check --issuer, and that this machine can reach it';
    return { ...check, state: 'broken', detail: `the keys of ${issuer} cannot be fetched: ${reasonOf(error)}`, cure };
  }
}
