import { z } from 'zod';

const glob = z.string().min(1).max(512);
const globs = z.array(glob).min(1).max(1000);

/** [INV-5] Tools by what their source says of them; `*` globs. Of each field one has to match, and all fields have to. */
const toolSelectorSchema = z
  .strictObject({
    name: glob.optional(),
    tags: globs.optional(),
    paths: globs.optional().describe('Of an HTTP operation, as the document writes it'),
    methods: globs.optional().describe('Of an HTTP operation, such as GET'),
  })
  .refine((selector) => Object.keys(selector).length > 0, 'Say which tools: by name, tags, paths or methods');

const choices = z
  .array(z.union([z.string().max(512), toolSelectorSchema]))
  .max(10_000)
  .default([]);

/** [INV-5] Which of its tools a source gives us: all, or those that are included, without those that are excluded. Text is a glob of names. */
export const toolChoiceSchema = z.strictObject({ include: choices, exclude: choices });
export type ToolChoice = z.infer<typeof toolChoiceSchema>;
