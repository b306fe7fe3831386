import { readFile } from 'node:fs/promises';
import { text as readText } from 'node:stream/consumers';
import { UsageError } from '../model/usage-error.ts';

/** A token given as itself, as `-` for standard input, or as `@` and a file. The shell history keeps only what is typed. */
export async function readToken(given: string): Promise<string> {
  if (given === '-') return (await readText(process.stdin)).trim();
  if (!given.startsWith('@')) return given;
  const path = given.slice(1);
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    throw new UsageError(`The token cannot be read from ${path} (${(cause as NodeJS.ErrnoException).code})`, { field: 'token', cause });
  }
}

interface ExpiredToken {
  claims: Record<string, unknown>;
  expiredAt: Date;
}

/** The unverified claims of an expired token; undefined for a token that may still be valid, and for anything else. */
export function expiredToken(token: string, now = Date.now()): ExpiredToken | undefined {
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
    const { exp } = claims;
    // Issuers' clocks may differ a little, so the server decides about such a token.
    if (typeof exp !== 'number' || exp * 1000 > now - 60_000) return undefined;
    return { claims, expiredAt: new Date(exp * 1000) };
  } catch {
    return undefined;
  }
}
