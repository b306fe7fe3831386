import { z } from 'zod';
import { differencesSchema, toolDifferenceSchema } from '../api.ts';
import { parseAnswer } from './parse-answer.ts';
import type { Administrator } from './source-client.ts';

const { tool_id, name, upstream_name, definition_hash } = toolDifferenceSchema.shape;

// Looser than the contract: a newer server may say more than we know of, and --json shows it.
const differenceSchema = z.looseObject({
  tool_id,
  name,
  upstream_name,
  definition_hash,
  state: z.string(),
  approval: z.string(),
  fields: z.array(z.looseObject({ field: z.string(), before: z.unknown(), after: z.unknown() })),
  flags: z.array(z.looseObject({ kind: z.string(), at: z.string(), excerpt: z.string() })),
});
export type ShownDifference = z.infer<typeof differenceSchema>;

const pageSchema = z.looseObject({
  differences: z.array(differenceSchema),
  next_cursor: differencesSchema.shape.next_cursor,
  report: z.unknown(),
});

/** [INV-3] All differences of a source that wait for approval, from all pages. */
export async function readDifferences({ client, token }: Administrator, sourceId: string) {
  const differences: ShownDifference[] = [];
  for (let cursor: string | undefined; ;) {
    const query = { limit: '1000', cursor };
    const page = parseAnswer(pageSchema, await client.json('GET', `/api/sources/${sourceId}/differences`, { token, query }), client.url);
    differences.push(...page.differences);
    if (page.next_cursor === null) return { differences, report: page.report };
    cursor = page.next_cursor;
  }
}

/** Approves exactly what was read. */
export async function approveDifferences(
  { client, token }: Administrator,
  sourceId: string,
  seen: readonly ShownDifference[],
): Promise<void> {
  const body = { definition_hashes: Object.fromEntries(seen.map(({ tool_id, definition_hash }) => [tool_id, definition_hash])) };
  await client.json('POST', `/api/sources/${sourceId}/approve`, { token, body });
}
