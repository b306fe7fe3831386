import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const pattern = /^[A-Za-z0-9_-]{43}$/;

/** Reads the secret that proves a client to belong to the user who runs the development server. Throws where there is none. */
export function readDevSecret(file: string): string {
  const secret = readFileSync(file, 'utf8').trim();
  if (!pattern.test(secret)) throw new Error('it does not hold a secret');
  return secret;
}

/** The same for the server itself, which creates it the first time. A copy or a restored backup may have wider permissions. */
export function openDevSecret(file: string): string {
  try {
    chmodSync(file, 0o600);
    return readDevSecret(file);
  } catch {
    const secret = randomBytes(32).toString('base64url');
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${secret}\n`, { mode: 0o600 });
    return secret;
  }
}
