import { noSuchToolMessage } from '../execution/no-such-tool.ts';
import { suggestTools } from '../inventory/suggest-tools.ts';
import { CribError } from '../model/crib-error.ts';
import type { Caller } from './caller.ts';
import { listTools } from './tool-client.ts';

interface RefusedCall {
  caller: Caller;
  tool: string;
  args: Record<string, unknown>;
  /** The values of --arg, as written. */
  pairs: readonly string[];
}

/** A refused call in words for the command line: with commands where the API names addresses, and with how to write what was meant. */
export async function explainRefusal(thrown: unknown, { caller, tool, args, pairs }: RefusedCall): Promise<unknown> {
  if (!(thrown instanceof CribError)) return thrown;
  const { code, message, field } = thrown;
  const name = /^arguments\.(.+)$/s.exec(field ?? '')?.[1] ?? '';
  const written = pairs.findLast((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
  const isArgument = code === 'VALIDATION_ERROR' && Object.hasOwn(args, name) && written !== undefined;
  if (code !== 'NOT_FOUND' && !isArgument) return thrown;
  // Without the list there is only the server's own message, which says enough.
  const list = await listTools(caller).catch(() => undefined);
  if (list === undefined) return thrown;
  const { tools } = list;
  if (code === 'NOT_FOUND') {
    const named = tools.map(({ name, model_name = name }) => ({ name, model_name, namespace: name.split(':')[0] ?? '' }));
    const text = noSuchToolMessage(suggestTools(tool, named), '`toolcrib tools` lists those you may use.');
    return new CribError(code, text, { cause: thrown });
  }
  const schema = tools.find((one) => one.name === tool || one.model_name === tool)?.input_schema;
  const way = wayToWrite({ value: args[name], written: written ?? '', type: typeOf(schema, name) });
  return way === undefined ? thrown : new CribError(code, `${message}: write --arg '${name}=${way}'`, { field, cause: thrown });
}

interface Misread {
  value: unknown;
  written: string;
  /** What the tool wants. */
  type: unknown;
}

/** Values of --arg are JSON where they are JSON, which is not always what was meant. */
function wayToWrite({ value, written, type }: Misread): string | undefined {
  if (written.includes("'")) return undefined;
  if (type === 'string' && typeof value !== 'string') return JSON.stringify(written);
  return type === 'array' && !Array.isArray(value) ? JSON.stringify([value]) : undefined;
}

function typeOf(schema: Readonly<Record<string, unknown>> = {}, name: string): unknown {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, { type?: unknown } | undefined>>;
  return Object.hasOwn(properties, name) ? properties[name]?.type : undefined;
}
