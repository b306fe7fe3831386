import { z } from 'zod';
import { issuerConfigSchema, type IssuerConfig } from '../identity/issuer-config.ts';
import { atJsonFault } from '../model/json-fault.ts';
import type { Given } from './given.ts';
import type { PlaceOption } from './serve-options.ts';
import { UsageError } from '../model/usage-error.ts';

/** [ID-1] The issuers whose tokens are accepted; none means development. */
export function issuersFrom(given: Given<PlaceOption>): IssuerConfig[] {
  const origin = given.origin('issuer');
  if (origin === undefined) return [];
  const defaults = { audience: given.required('audience'), ...(given.on('allow-insecure-issuer') ? { allow_insecure: true } : {}) };
  const written = origin.startsWith('--') ? given.list('issuer') : listIn(given.required('issuer'), origin);
  const issuers = written.map((entry) => parseIssuer(typeof entry === 'string' ? { issuer: entry } : entry, defaults, origin));
  const twice = issuers.find(({ issuer }, index) => issuers.findIndex((other) => other.issuer === issuer) !== index);
  if (twice) throw new UsageError(`${origin} names ${twice.issuer} twice`, { field: 'issuer' });
  return issuers;
}

function listIn(text: string, origin: string): (string | object)[] {
  if (!/^\s*[[{]/.test(text)) return text.split(/\s+/).filter(Boolean);
  try {
    return z.array(z.record(z.string(), z.unknown())).min(1).parse(JSON.parse(text));
  } catch (cause) {
    const where = cause instanceof SyntaxError ? `. It is not JSON${atJsonFault(text)}` : '';
    throw new UsageError(`${origin} must be a JSON list of issuer configurations, or addresses separated by spaces${where}`, {
      field: 'issuer',
      cause,
    });
  }
}

function parseIssuer(entry: object, defaults: object, origin: string): IssuerConfig {
  const parsed = issuerConfigSchema.safeParse({ ...defaults, ...entry });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join('.') || 'issuer';
  const message = (issue?.message ?? 'does not fit').replace('set allow_insecure', 'pass --allow-insecure-issuer');
  throw new UsageError(`${origin}: ${field === 'issuer' ? 'the address' : field} ${message}`, { field: 'issuer', cause: parsed.error });
}
