import { z } from 'zod';

/** Where a document is: fetched, read from a file of this machine, or stored with the source because it was pasted. */
export const documentPlaceSchema = z.union([
  z.strictObject({ url: z.string().max(2048) }),
  z.strictObject({ file: z.string().max(4096) }),
  z.strictObject({ stored: z.string().max(100).describe('The SHA-256 of its text') }),
]);
export type DocumentPlace = z.infer<typeof documentPlaceSchema>;
