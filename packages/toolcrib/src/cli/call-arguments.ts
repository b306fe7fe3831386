import { text as readText } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { parseExactJson } from '../model/exact-json.ts';
import { atJsonFault } from '../model/json-fault.ts';
import { UsageError } from '../model/usage-error.ts';

const objectSchema = z.record(z.string(), z.unknown());

/** A tool's arguments: a JSON object, `-` for one on standard input, and single values set on top of it. Numbers that would lose digits are text. */
export async function callArguments(
  written: string | undefined,
  pairs: readonly string[],
  input: Readable,
): Promise<Record<string, unknown>> {
  const json = written === '-' ? await readText(input) : written;
  return { ...(json === undefined ? {} : parseObject(json)), ...Object.fromEntries(pairs.map(parsePair)) };
}

function parseObject(json: string): Record<string, unknown> {
  try {
    return objectSchema.parse(parseExactJson(json));
  } catch (cause) {
    const wanted = 'The arguments must be a JSON object such as {"city": "Bonn"}; set single values with --arg city=Bonn';
    throw new UsageError(cause instanceof SyntaxError ? `The arguments are not JSON${atJsonFault(json)}. ${wanted}` : wanted, { cause });
  }
}

function parsePair(pair: string): [name: string, value: unknown] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`--arg must be name=value, not ${JSON.stringify(pair)}`, { field: 'arg' });
  return [name, parseValue(value)];
}

/** JSON if it is valid JSON, otherwise text. */
function parseValue(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return text;
  }
}
