import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { calculateJwkThumbprint } from 'jose';
import { z } from 'zod';
import { CribError } from '../../model/crib-error.ts';

const coordinate = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

const stateSchema = z.strictObject({
  kid: z.string().min(1),
  private_key: z.strictObject({ kty: z.literal('EC'), crv: z.literal('P-256'), x: coordinate, y: coordinate, d: coordinate }),
  client_secret: z.string().min(32),
});
export type DevIssuerState = z.infer<typeof stateSchema>;

/** Reads the signing key and the client secret of the development issuer, or makes them the first time. */
export async function openDevIssuerState(file: string): Promise<DevIssuerState> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    return createState(file);
  }
  // A copy or a restored backup may have wider permissions.
  chmodSync(file, 0o600);
  try {
    return stateSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new CribError('VALIDATION_ERROR', `${file} is damaged: delete it, and the server makes new development keys`, { cause });
  }
}

async function createState(file: string): Promise<DevIssuerState> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = privateKey.export({ format: 'jwk' });
  const state = stateSchema.parse({
    kid: await calculateJwkThumbprint({ kty: 'EC', crv: 'P-256', x: jwk.x, y: jwk.y }),
    private_key: jwk,
    client_secret: randomBytes(32).toString('base64url'),
  });
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Written to another file and then renamed: a crash leaves either no file or a complete one.

  const draft = `${file}.${process.pid}.tmp`;
  writeFileSync(draft, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
  return state;
}
