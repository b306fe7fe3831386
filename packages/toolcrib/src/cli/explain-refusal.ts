import { listedByApi } from '../execution/no-such-tool.ts';
import { CribError } from '../model/crib-error.ts';

interface RefusedCall {
  args: Record<string, unknown>;
  /** What was given with --arg. */
  pairs: readonly string[];
}

/** A refused call in words for the command line: with commands where the API names addresses, and with how to write what was meant. */
export function explainRefusal(error: unknown, { args, pairs }: RefusedCall): unknown {
  if (!(error instanceof CribError)) return error;
  const { code, message, field } = error;
  if (code === 'NOT_FOUND' && message.endsWith(listedByApi)) {
    return new CribError(code, message.replace(listedByApi, '`toolcrib tools` lists those you may use.'), { cause: error });
  }
  const name = /^arguments\.(.+)$/s.exec(field ?? '')?.[1] ?? '';
  const way = code === 'VALIDATION_ERROR' && Object.hasOwn(args, name) ? wayToWrite(name, args[name], message, pairs) : undefined;
  return way === undefined ? error : new CribError(code, `${message}: write --arg '${way}'`, { field, cause: error });
}

/** Values of --arg are JSON where they are JSON, which is not always what was meant. */
function wayToWrite(name: string, value: unknown, message: string, pairs: readonly string[]): string | undefined {
  const written = pairs.findLast((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
  const wanted = / must be (\w+)/.exec(message)?.[1];
  if (written === undefined || written.includes("'")) return undefined;
  if (wanted === 'string' && typeof value !== 'string') return `${name}=${JSON.stringify(written)}`;
  return wanted === 'array' && !Array.isArray(value) ? `${name}=${JSON.stringify([value])}` : undefined;
}
