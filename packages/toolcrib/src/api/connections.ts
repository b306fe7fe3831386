import { z } from 'zod';
import { epochMs } from './parts.ts';

export const connectionSchema = z.strictObject({
  source_id: z.string(),
  source_name: z.string(),
  namespace: z.string(),
  for: z
    .enum(['calls', 'discovery', 'everybody'])
    .describe("For the caller's own calls, for finding the tools of the source, or, where it is shared, for everything"),
  connected: z.boolean(),
  connected_at: epochMs.nullable(),
  connect_url: z.string().describe('Where POST begins it and DELETE ends it'),
  redirect_uri: z.string().describe('The redirect address to register with an authorization server by hand; another one for each source'),
});
export const connectionListSchema = z.strictObject({ connections: z.array(connectionSchema) });
export const begunConnectionSchema = z.strictObject({
  authorization_url: z.string().describe("Where the user allows it, in the user's own browser"),
  expires_at: epochMs,
  redeem_url: z.string().describe('Where the caller finishes it with POST and the code that the last page shows'),
});
export const redemptionSchema = z.strictObject({
  code: z.string().min(1).max(64).describe('As the last page shows it. Only the browser that allowed the connection was shown it'),
});

export const userConnectionSchema = z.strictObject({
  source_id: z.string(),
  source_name: z.string(),
  namespace: z.string(),
  owner: z.string().describe('Issuer and subject of the user, with a space between them'),
  user: z.string().nullable().describe('As people call them, when they connected'),
  connected_at: epochMs,
});
export const userConnectionListSchema = z.strictObject({ connections: z.array(userConnectionSchema) });
