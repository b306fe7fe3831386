import { z } from 'zod';
import { listedToolSchema, toolListSchema } from '../api.ts';
import type { Caller } from './caller.ts';
import { parseAnswer } from './parse-answer.ts';

const { name, description } = listedToolSchema.shape;
const { model_name, input_schema } = listedToolSchema.partial().shape;
// Looser than the contract: a newer server may say more than we know of, and --json shows it.
const pageSchema = z.looseObject({
  ...toolListSchema.shape,
  tools: z.array(z.looseObject({ name, model_name: model_name.optional(), description, input_schema: input_schema.optional() })),
});
type Page = z.infer<typeof pageSchema>;

interface ToolQuery {
  q?: string | undefined;
  group?: string | undefined;
  limit?: number | undefined;
}

/** The tools that the caller may use, in the form of one page: all of them, or the first page of a search or within a limit. */
export async function listTools({ client, token }: Pick<Caller, 'client' | 'token'>, query: ToolQuery = {}): Promise<Page> {
  let cursor: string | undefined;
  let whole: Page | undefined;
  do {
    const page = parseAnswer(
      pageSchema,
      await client.json('GET', '/api/bff/tools', { token, query: { ...query, limit: query.limit?.toString(), cursor } }),
      client.url,
    );
    if (query.q !== undefined || query.limit !== undefined) return page;
    whole = { ...page, tools: [...(whole?.tools ?? []), ...page.tools], next_cursor: null };
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return whole;
}
