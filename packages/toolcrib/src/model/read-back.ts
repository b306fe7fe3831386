import { z } from 'zod';
import { CribError } from './crib-error.ts';
import { managedBySchema } from './managed-by.ts';

/**
 * What the server says of everything that is stored. A replacement may send it back as it was read, so that an answer can be changed and
 * sent as it is; whatever differs is refused, because it would have no effect.
 */
export const stampFields = {
  id: z.string().max(64).optional().describe('Cannot be changed: the same as in the path'),
  managed_by: managedBySchema.optional(),
  created_at: z.int().optional().describe('Not to be changed'),
  updated_at: z
    .int()
    .optional()
    .describe('The value that you read. If it was changed since, the answer is CONFLICT; without it, the last write wins'),
};

interface Stamp {
  id?: string | undefined;
  managed_by?: unknown;
  created_at?: number | undefined;
  updated_at?: number | undefined;
}

/** Separates what somebody wants to store from what they had read before. Refuses fields that only the server can set. */
export function splitStamp<Body extends Stamp>(
  body: Body,
  current: Required<Stamp>,
): { input: Omit<Body, keyof Stamp>; seen: number | undefined } {
  const { id, managed_by, created_at, updated_at: seen, ...input } = body;
  for (const [field, value] of Object.entries({ id, managed_by, created_at })) {
    if (value === undefined || value === current[field as keyof Stamp]) continue;
    const message = `${field} is set by the server: send it as it was read, or leave it out`;
    throw new CribError('VALIDATION_ERROR', message, { field });
  }
  return { input, seen };
}
