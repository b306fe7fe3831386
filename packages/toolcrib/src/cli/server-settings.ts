import { z } from 'zod';
import { issuerConfigSchema } from '../identity/issuer-config.ts';
import { loginBridgeSchema } from '../login-bridge/bridge-config.ts';
import { looksLikeSecretValue } from '../secrets/secret-looks.ts';
import type { FiledOption } from './given.ts';
import type { OptionSpec } from '../model/option-table.ts';
import { serveOptions } from './serve-options.ts';

/** The file itself, and options that hold secrets. */
const notInFile = new Set(['config', 'keys', 'database']);
const numbers = new Set(['number', 'ms', 'bytes', 'days']);
const { audience } = issuerConfigSchema.shape;
/** The entries themselves are checked like those of the command line. */
const issuers = z.array(z.union([z.string(), z.strictObject({ ...issuerConfigSchema.shape, audience: audience.optional() })])).min(1);

/** A setting is named like the variable of its option, without the prefix: `allowed_hosts`; or like the option, if it has no variable: `max_timeout`. */
const settings = Object.entries<OptionSpec>(serveOptions)
  .filter(([option]) => !notInFile.has(option))
  .map(([option, spec]) => {
    const named = spec.env?.startsWith('TOOLCRIB_') === true ? spec.env.slice('TOOLCRIB_'.length) : option;
    return { option, spec, name: named.toLowerCase().replaceAll('-', '_') };
  });

/**
 * [SRC-6] The section `server` of a file, made from the options of `serve`, so that a new option is known here too. Values are checked
 * where those of the options are.
 */
export const serverSettingsSchema = z
  .strictObject(Object.fromEntries(settings.map(({ option, spec, name }) => [name, valueSchema(option, spec).optional()])))
  .default({})
  .describe('How `toolcrib serve --config` runs the server. Options and variables override these settings');

function valueSchema(option: string, { value, many = false, help }: OptionSpec): z.ZodType {
  const kind = () => {
    if (option === 'issuer') return issuers;
    if (option === 'login-bridge') return z.union([z.literal('off'), loginBridgeSchema]);
    if (value === undefined) return z.boolean();
    if (numbers.has(value)) return z.number().min(0);
    const text = z.string().min(1).max(4096);
    const open = text.refine((written) => !looksLikeSecretValue(written), 'contains a password: put it into the variable of the option');
    return many ? z.array(open).max(1000) : open;
  };
  return kind().describe(help);
}

/** By option. */
export function filedOptions(
  server: z.output<typeof serverSettingsSchema>,
  originOf: (name: string) => string,
): ReadonlyMap<string, FiledOption> {
  const filed = new Map<string, FiledOption>();
  for (const { option, name } of settings) {
    const value: unknown = server[name];
    if (value !== undefined) filed.set(option, { origin: originOf(name), value: written(option, value) });
  }
  return filed;
}

function written(option: string, value: unknown): FiledOption['value'] {
  if (option === 'issuer')
    return JSON.stringify((value as (string | object)[]).map((one) => (typeof one === 'string' ? { issuer: one } : one)));
  if (option === 'login-bridge' && typeof value !== 'string') return JSON.stringify(value);
  if (typeof value === 'boolean') return value;
  return Array.isArray(value) ? value.map(String) : String(value);
}
