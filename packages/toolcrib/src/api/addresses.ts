import { z } from 'zod';

const tokens = z.int().min(0);

export const addressQuerySchema = z.strictObject({
  heaviest: z.coerce.number().int().min(0).max(1000).optional().describe('How many of the heaviest tools to name; 10 by default'),
});

/** [DOOR-6] */
export const addressListSchema = z.strictObject({
  addresses: z.array(
    z.strictObject({
      url: z.string().describe('For an MCP client; with `?mode=search` it has three tools that find all others'),
      group: z.string().nullable().describe('The id of the group; null for all tools'),
      tools: z.int().min(0),
      tokens: tokens.describe('About how much of a model’s context the list takes'),
      tokens_in_search_mode: tokens,
      heaviest: z.array(z.strictObject({ name: z.string().describe('As MCP clients see it'), tokens })).describe('Heaviest first'),
    }),
  ),
});

export type AddressList = z.infer<typeof addressListSchema>;
