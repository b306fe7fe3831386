import type { z } from 'zod';

/** An optional field. Many programs write `null` for a field they leave out, so `null` counts as left out. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();
}
