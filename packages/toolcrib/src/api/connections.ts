import { z } from 'zod';
import { epochMs } from './parts.ts';

export const connectionSchema = z.strictObject({
  source_id: z.string(),
  source_name: z.string(),
  namespace: z.string(),
  for: z
    .enum(['calls', 'discovery', 'everybody'])
    .describe("For the caller's own calls, for discovery, or, if the connection is shared, for everything"),
  connected: z.boolean(),
  connected_at: epochMs.nullable(),
  connect_url: z.string().describe('POST here begins the connection, DELETE ends it'),
  redirect_uri: z
    .string()
    .describe('The redirect URI to use when you register a client with the authorization server by hand; each source has its own'),
});
export const connectionListSchema = z.strictObject({ connections: z.array(connectionSchema) });
export const begunConnectionSchema = z.strictObject({
  authorization_url: z.string().describe("The page where the user allows the connection, in the user's own browser"),
  expires_at: epochMs,
  redeem_url: z.string().describe('POST here the code that the last page shows, to finish the connection'),
});
export const redemptionSchema = z.strictObject({
  code: z.string().min(1).max(64).describe('The code from the last page, which only the browser that allowed the connection was shown'),
});

export const userConnectionSchema = z.strictObject({
  source_id: z.string(),
  source_name: z.string(),
  namespace: z.string(),
  owner: z.string().describe('Issuer and subject of the user, separated by a space'),
  user: z.string().nullable().describe('Name of the user when they connected'),
  connected_at: epochMs,
});
export const userConnectionListSchema = z.strictObject({ connections: z.array(userConnectionSchema) });
