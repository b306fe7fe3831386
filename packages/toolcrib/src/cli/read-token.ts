import { readFile } from 'node:fs/promises';
import { text as readText } from 'node:stream/consumers';
import { UsageError } from './usage-error.ts';

/** A token as it was given: itself, `-` for standard input, or `@` and the file it is in. A shell keeps only what is typed. */
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

/** What an expired token says, which nobody has verified; undefined for one that may still be good, or is none. */
export function expiredToken(token: string, now = Date.now()): ExpiredToken | undefined {
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
    const { exp } = claims;
    // Issuers' clocks may differ a little; the server says what it makes of such a token.
    if (typeof exp !== 'number' || exp * 1000 > now - 60_000) return undefined;
    return { claims, expiredAt: new Date(exp * 1000) };
  } catch {
    return undefined;
  }
}
