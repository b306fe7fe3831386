import { z } from 'zod';
import { issuerConfigSchema } from '../identity/issuer-config.ts';
import { looksLikeSecretValue } from '../sources/registration/secret-looks.ts';
import type { FiledOption } from './given.ts';
import type { OptionSpec } from './option-table.ts';
import { serveOptions } from './serve-options.ts';

/** The file itself, and what has secrets in it. */
const notInFile = new Set(['config', 'keys', 'database']);
const numbers = new Set(['number', 'ms', 'bytes', 'days']);
const { audience } = issuerConfigSchema.shape;
/** What is wrong with one of them is said where those of the command line are read. */
const issuers = z.array(z.union([z.string(), z.strictObject({ ...issuerConfigSchema.shape, audience: audience.optional() })])).min(1);

/** An option is called in the file as its variable is, without the prefix: `allowed_hosts`; as itself where it has none: `max_timeout`. */
const settings = Object.entries<OptionSpec>(serveOptions)
  .filter(([option]) => !notInFile.has(option))
  .map(([option, spec]) => {
    const named = spec.env?.startsWith('TOOLCRIB_') === true ? spec.env.slice('TOOLCRIB_'.length) : option;
    return { option, spec, name: named.toLowerCase().replaceAll('-', '_') };
  });

/**
 * [SRC-6] The section `server` of a file, made from the options of `serve`: one that is added there is known here too. What a value may
 * be is checked where that of the option is.
 */
export const serverSettingsSchema = z
  .strictObject(Object.fromEntries(settings.map(({ option, spec, name }) => [name, valueSchema(option, spec).optional()])))
  .default({})
  .describe('How `toolcrib serve --config` runs the server: its options, which win over what is said here, as do their variables');

function valueSchema(option: string, { value, many = false, help }: OptionSpec): z.ZodType {
  const kind = () => {
    if (option === 'issuer') return issuers;
    if (value === undefined) return z.boolean();
    if (numbers.has(value)) return z.number().min(0);
    const text = z.string().min(1).max(4096);
    const open = text.refine(
      (written) => !looksLikeSecretValue(written),
      'has a password in it: that belongs into the variable of the option',
    );
    return many ? z.array(open).max(1000) : open;
  };
  return kind().describe(help.replace(/ The variable (holds|may hold) .*$/, ''));
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
  if (typeof value === 'boolean') return value;
  return Array.isArray(value) ? value.map(String) : String(value);
}
