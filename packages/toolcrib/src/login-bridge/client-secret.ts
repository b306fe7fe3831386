import { readFile } from 'node:fs/promises';
import { importPKCS8, type CryptoKey } from 'jose';
import { CribError } from '../model/crib-error.ts';
import type { LoginBridgeConfig } from './bridge-config.ts';

/** How Toolcrib proves to the provider who it is. */
export type ClientProof = { kind: 'none' } | { kind: 'secret'; secret: string } | { kind: 'key'; key: CryptoKey; kid: string | undefined };

interface ClientProofInput {
  env: NodeJS.ProcessEnv;
  /** Of a secret that is stored in Toolcrib. */
  secretOf(name: string): Promise<string | undefined>;
}

/** Reads the secret or the key that the configuration names. It is never part of a message. */
export async function clientProof(config: LoginBridgeConfig, { env, secretOf }: ClientProofInput): Promise<ClientProof> {
  const { client_secret_file: file, client_secret_env: variable, client_secret_ref: ref, private_key_file: keyFile } = config;
  if (keyFile !== undefined) return { kind: 'key', key: await keyIn(keyFile, config), kid: config.private_key_id };
  if (file !== undefined) return secretFrom(await textOf(file, 'client_secret_file'), `client_secret_file: ${file} is empty`);
  if (variable !== undefined) return secretFrom(env[variable], `client_secret_env: the variable ${variable} is not set`);
  if (ref !== undefined)
    return secretFrom(await secretOf(ref), `client_secret_ref: there is no secret ${ref}: toolcrib secrets set ${ref}`);
  return { kind: 'none' };
}

function secretFrom(text: string | undefined, missing: string): ClientProof {
  const secret = text?.trim();
  if (secret === undefined || secret === '') throw misfit(missing);
  return { kind: 'secret', secret };
}

async function keyIn(file: string, { private_key_algorithm: algorithm = 'RS256' }: LoginBridgeConfig): Promise<CryptoKey> {
  const text = await textOf(file, 'private_key_file');
  try {
    return await importPKCS8(text, algorithm);
  } catch {
    // Not the cause: it may repeat what was read.
    throw misfit(`private_key_file: ${file} is no PEM file with a private key (PKCS #8) for ${algorithm}`);
  }
}

async function textOf(file: string, field: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw misfit(`${field}: ${file} cannot be read (${(cause as NodeJS.ErrnoException).code})`);
  }
}

function misfit(message: string): CribError {
  return new CribError('VALIDATION_ERROR', `login_bridge.${message}`, { field: 'login-bridge' });
}
