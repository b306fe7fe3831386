import type { z } from 'zod';

/** A field that need not be there. Many programs write `null` for what they leave out: it is left out. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();
}
