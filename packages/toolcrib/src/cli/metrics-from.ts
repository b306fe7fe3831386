import { readFileSync } from 'node:fs';
import type { ServeConfig } from '../server/server-config.ts';
import type { Given } from './given.ts';
import { serveOptions } from './serve-options.ts';
import { UsageError } from '../model/usage-error.ts';

/** A shorter token could be guessed. */
const leastCharacters = 16;

/** [OPS-1] Who may read the metrics, and where. */
export function metricsFrom(given: Given<'metrics-token' | 'metrics-listen'>): Pick<ServeConfig, 'metricsToken' | 'metricsListen'> {
  const token = tokenFrom(given);
  const address = given.text('metrics-listen');
  return {
    ...(token === undefined ? {} : { metricsToken: token }),
    ...(address === undefined ? {} : { metricsListen: listenAddress(given, address) }),
  };
}

/** Everybody on the machine can read a command line, so the token is not on it. */
function tokenFrom(given: Given<'metrics-token'>): string | undefined {
  const text = given.text('metrics-token');
  if (text === undefined) return undefined;
  const origin = given.origin('metrics-token') ?? '';
  const token = origin === serveOptions['metrics-token'].env ? text : read(text, origin);
  if (token.length >= leastCharacters && /^[\x21-\x7e]+$/.test(token)) return token;
  throw misfit(origin, `must hold a token of at least ${leastCharacters} visible characters, such as \`openssl rand -hex 32\` prints`);
}

function read(file: string, origin: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw misfit(origin, `must be the path of a file that can be read: ${(error as Error).message}`);
  }
}

function listenAddress(given: Given<'metrics-listen'>, text: string): { host: string; port: number } {
  const [, bracketed, plain, port = ''] = /^(?:\[([0-9a-f:.]+)\]|([^:\s[\]]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  const message = `${given.origin('metrics-listen')} must be host:port, such as 127.0.0.1:9464, not ${JSON.stringify(text)}`;
  throw new UsageError(message, { field: 'metrics-listen' });
}

function misfit(origin: string, what: string): UsageError {
  return new UsageError(`${origin} ${what}`, { field: 'metrics-token' });
}
