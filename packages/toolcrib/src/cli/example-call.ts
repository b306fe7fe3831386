import { z } from 'zod';

const propertySchema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  examples: z.array(z.unknown()).optional().catch(undefined),
  default: z.unknown().optional(),
  const: z.unknown().optional(),
  format: z.string().optional().catch(undefined),
  minimum: z.number().optional().catch(undefined),
  minLength: z.number().optional().catch(undefined),
  maxLength: z.number().optional().catch(undefined),
  pattern: z.string().optional().catch(undefined),
});
const inputSchema = z.looseObject({
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
});

export interface ToolToTry {
  name: string;
  state: string;
  input_schema?: unknown;
  annotations?: unknown;
}

/** Tools that are no good suggestion for a first try. */
const harmful = /delete|remove|drop|destroy|purge|reset|clear|kill|stop|cancel|send|pay|write|create|update|set[_-]|put/i;
/** Names and values come from the server, and become part of a command that somebody may paste. */
const plainName = /^[\w:.-]+$/;
const plainValue = /^[\w.:/@-][\w .:/@-]{0,39}$/;

/** [CLI-1] A `toolcrib` command line that tries a tool with simple arguments: preferably one that only reads, with few arguments. */
export function exampleCall(tools: readonly ToolToTry[]): string | undefined {
  const candidates = tools.flatMap((tool) => {
    if (tool.state !== 'active' || !plainName.test(tool.name)) return [];
    const { readOnlyHint, destructiveHint } = (tool.annotations ?? {}) as { readOnlyHint?: unknown; destructiveHint?: unknown };
    if (readOnlyHint !== true && (destructiveHint === true || harmful.test(tool.name.replace(/^[^:]*:/, '')))) return [];
    const args = exampleArguments(tool.input_schema);
    return args === undefined ? [] : [{ name: tool.name, args, rank: (readOnlyHint === true ? 0 : 100) + args.length }];
  });
  const [best] = candidates.toSorted((one, other) => one.rank - other.rank);
  return best && ['call', best.name, ...best.args.map((pair) => `--arg ${quoted(pair)}`)].join(' ');
}

/** `name=value` for every required property, or undefined where one of them is not simple. */
function exampleArguments(schema: unknown): string[] | undefined {
  const parsed = inputSchema.safeParse(schema ?? {});
  if (!parsed.success) return undefined;
  const { required, properties } = parsed.data;
  const pairs = required.map((name) => {
    const value = exampleValue(properties[name]);
    return plainName.test(name) && value !== undefined ? `${name}=${value}` : undefined;
  });
  return pairs.every((pair) => pair !== undefined) ? pairs : undefined;
}

function exampleValue(property: unknown): string | undefined {
  const parsed = propertySchema.safeParse(property);
  if (!parsed.success) return undefined;
  const { type, format, minimum = 1, minLength = 0, maxLength = Infinity, pattern, examples = [], enum: values = [] } = parsed.data;
  const types = Array.isArray(type) ? type : [type];
  const said = [parsed.data.const, parsed.data.default, ...examples, ...values].find((value): value is string | number | boolean =>
    isPlain(value, types),
  );
  if (said !== undefined) return String(said);
  if (values.length > 0 || parsed.data.const !== undefined) return undefined;
  if (types.includes('boolean')) return 'true';
  if (types.includes('integer') || types.includes('number')) return String(Math.max(Math.ceil(minimum), 1));
  if (!types.includes('string') || pattern !== undefined) return undefined;
  const text = format === undefined ? 'hello' : byFormat[format];
  return text !== undefined && text.length >= minLength && text.length <= maxLength ? text : undefined;
}

const byFormat: Partial<Record<string, string>> = {
  date: '2026-11-17',
  'date-time': '2026-11-17T12:00:00Z',
  email: 'somebody@example.org',
  uri: 'https://example.org/',
};

/** Whether --arg would pass the value unchanged: a text that is also JSON would become something else. */
function isPlain(value: unknown, types: readonly (string | undefined)[]): value is string | number | boolean {
  if (typeof value === 'number' || typeof value === 'boolean') return true;
  return typeof value === 'string' && plainValue.test(value) && !/^(?:-?\d|true$|false$|null$)/.test(value) && !types.includes('array');
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`;
}
