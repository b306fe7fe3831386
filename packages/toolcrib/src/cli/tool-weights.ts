import { z } from 'zod';
import { addressListSchema } from '../api.ts';
import { align } from '../text/align.ts';
import type { Caller } from './caller.ts';
import { parseAnswer } from './parse-answer.ts';
import { lineWidth, paint } from './terminal.ts';

// Looser than the contract: a newer server may say more than we know of, and --json shows it.
const listSchema = z.looseObject({ addresses: z.array(z.looseObject(addressListSchema.shape.addresses.element.shape)) });
export type Weights = z.infer<typeof listSchema>;

/** [DOOR-6] What each address for MCP clients costs a model. */
export async function readWeights({ client, token }: Pick<Caller, 'client' | 'token'>, heaviest: number): Promise<Weights> {
  const query = { heaviest: String(heaviest) };
  return parseAnswer(listSchema, await client.json('GET', '/api/bff/addresses', { token, query }), client.url);
}

export function weightTables({ addresses }: Weights): string {
  const figure = (tokens: number) => tokens.toLocaleString('en');
  const rows = addresses.map(({ url, tools, tokens, tokens_in_search_mode }) => [
    url,
    String(tools),
    figure(tokens),
    figure(tokens_in_search_mode),
  ]);
  // All tools are at the first address.
  const heaviest = addresses[0]?.heaviest.map(({ name, tokens }) => [name, figure(tokens)]) ?? [];
  const painter = (text: string, _column: number, row: number) => (row === 0 ? paint('dim', text) : text);
  const table = (lines: string[][]) => align(lines, { width: lineWidth(), paint: painter }).join('\n');
  const first = table([['ADDRESS', 'TOOLS', 'TOKENS', 'WITH ?mode=search'], ...rows]);
  return heaviest.length === 0 ? first : `${first}\n\n${table([['HEAVIEST TOOLS', 'TOKENS'], ...heaviest])}`;
}
