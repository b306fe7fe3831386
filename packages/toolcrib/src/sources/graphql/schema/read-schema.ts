import { CribError } from '../../../model/crib-error.ts';
import type { Json } from '../../../model/json.ts';
import { readIntrospection } from './read-introspection.ts';
import { readSdl } from './read-sdl.ts';
import { builtInScalars, emptyType, type TypeTable } from './type-table.ts';

const mostText = 32 * 1024 * 1024;

export interface ReadSchema {
  table: TypeTable;
  format: 'SDL' | 'introspection';
}

/** Reads a schema in SDL or as an introspection response. Throws `VALIDATION_ERROR` if the text is neither. */
export function readSchema(text: string): ReadSchema {
  if (text.length > mostText) throw new CribError('PAYLOAD_TOO_LARGE', `The schema is larger than ${mostText / 1024 / 1024} MiB`);
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (/^\s*</.test(plain)) throw new CribError('VALIDATION_ERROR', 'This is an HTML or XML page: give the address of the schema itself');
  // SDL never begins with `[` or `{`; a query may begin with `{`.
  const isJson = /^\s*[[{]/.test(plain);
  const table = isJson ? readIntrospection(parseJson(plain)) : readSdl(plain);
  const types = new Map(table.types);
  for (const name of builtInScalars) types.set(name, emptyType('scalar', name));
  return { table: { ...table, types }, format: isJson ? 'introspection' : 'SDL' };
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new CribError(
      'VALIDATION_ERROR',
      `The schema begins like JSON but is not valid JSON: ${(cause as Error).message.slice(0, 300)}`,
      {
        cause,
      },
    );
  }
}
