import { createSecretKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { CribError } from '../model/crib-error.ts';
import { parsedJson } from '../model/json.ts';

export interface SealingKey {
  /** Stands in front of everything the key has sealed. */
  readonly kid: string;
  readonly key: KeyObject;
}

/** [SEC-3] The newest key seals; the older ones only open what they sealed before. */
export interface KeyRing {
  readonly newest: SealingKey;
  readonly kids: readonly string[];
  /** Where the keys are from, as a message should say it. */
  readonly origin: string;
  find(kid: string): SealingKey | undefined;
}

const keyBytes = 32;
const howToMake = 'Make one with `openssl rand -base64 32`.';
const kidForm = '[A-Za-z0-9_-]{2,64}';
const pairForm = new RegExp(`^(${kidForm}):([A-Za-z0-9+/_-]+={0,2})$`);

export const writtenKeySchema = z.strictObject({
  kid: z.string().regex(new RegExp(`^${kidForm}$`)),
  key: z.string().regex(/^[A-Za-z0-9+/_-]+={0,2}$/),
});
export type WrittenKey = z.infer<typeof writtenKeySchema>;

/** Whether a text holds keys itself, and is not the path of a file that does. */
export function isWrittenKeys(text: string): boolean {
  const trimmed = text.trim();
  return /^[[{]/.test(trimmed) || trimmed.split(/[\s,]+/).every((part) => pairForm.test(part));
}

/**
 * A ring from its text, newest key first: `kid:base64` with commas or spaces between, or JSON `[{"kid": …, "key": …}]`. No message
 * repeats any part of the text, and no cause is kept: a misspelt key may still be a key.
 */
export function parseKeyRing(text: string, origin: string): KeyRing {
  const keys = new Map<string, SealingKey>();
  for (const { kid, key } of writtenKeys(text.trim(), origin)) {
    if (keys.has(kid)) throw refused(origin, `two keys have the id ${kid}. Give every key an id of its own.`);
    keys.set(kid, { kid, key: checkedKey(key, `the key ${kid} of ${origin}`) });
  }
  const [newest] = keys.values();
  if (newest === undefined) throw refused(origin, `there is no key in it. ${howToMake}`);
  return { newest, kids: [...keys.keys()], origin, find: (kid) => keys.get(kid) };
}

function writtenKeys(text: string, origin: string): WrittenKey[] {
  if (/^[[{]/.test(text)) {
    const parsed = z.array(writtenKeySchema).safeParse(parsedJson(text));
    if (parsed.success) return parsed.data;
    throw refused(origin, 'it must be a JSON list such as [{"kid": "2026-11", "key": "<base64>"}], the newest key first.');
  }
  return text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((part) => {
      const [, kid, key] = pairForm.exec(part) ?? [];
      if (kid === undefined || key === undefined) {
        throw refused(origin, 'every key must be written kid:base64, with commas or spaces between them, the newest first.');
      }
      return { kid, key };
    });
}

function checkedKey(written: string, name: string): KeyObject {
  const bytes = Buffer.from(written, 'base64');
  if (bytes.length !== keyBytes) {
    throw new CribError('VALIDATION_ERROR', `${capitalised(name)} has ${bytes.length * 8} bits and must have 256. ${howToMake}`);
  }
  if (looksMadeUp(bytes)) {
    throw new CribError('VALIDATION_ERROR', `${capitalised(name)} is a sample or a password and not random. ${howToMake}`);
  }
  return createSecretKey(bytes);
}

/** Whether the bytes are nearly all alike, a sequence, or readable text: 32 random bytes practically never are. */
function looksMadeUp(bytes: Buffer): boolean {
  const fewDifferent = new Set(bytes).size < 16;
  const step = ((bytes[1] ?? 0) - (bytes[0] ?? 0)) & 0xff;
  const ladder = bytes.every((byte, index) => index === 0 || ((byte - (bytes[index - 1] ?? 0)) & 0xff) === step);
  const readable = bytes.every((byte) => byte >= 0x20 && byte < 0x7f);
  return fewDifferent || ladder || readable;
}

function refused(origin: string, reason: string): CribError {
  return new CribError('VALIDATION_ERROR', `${capitalised(origin)} cannot be used: ${reason}`);
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
