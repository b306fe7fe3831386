import { z } from 'zod';
import { administeredToolSchema } from '../api.ts';
import { parseAnswer } from './parse-answer.ts';
import type { Administrator } from './source-client.ts';

const { name, description, groups } = administeredToolSchema.shape;
const pageSchema = z.looseObject({
  tools: z.array(z.looseObject({ name, description, groups: groups.catch([]), state: z.string() })),
  next_cursor: z.string().nullable(),
});
export type ShownTool = z.infer<typeof pageSchema>['tools'][number];

/** All tools of one source that are there, also those that wait for approval. */
export async function sourceTools({ client, token }: Administrator, sourceId: string): Promise<ShownTool[]> {
  const tools: ShownTool[] = [];
  let cursor: string | undefined;
  do {
    const query = { source: sourceId, limit: '1000', cursor };
    const page = parseAnswer(pageSchema, await client.json('GET', '/api/tools', { token, query }), client.url);
    tools.push(...page.tools.filter(({ state }) => state !== 'deprecated'));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return tools;
}
