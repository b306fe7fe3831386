import { z } from 'zod';

/** [INV-3] What in a tool's definition a person should look at before trusting it. */
export const definitionFlagSchema = z.strictObject({
  kind: z
    .enum([
      'invisible_character',
      'direction_control',
      'tag_characters',
      'variation_selectors',
      'private_use',
      'control_character',
      'instruction',
      'unexamined',
      'unusable_schema',
    ])
    .describe(
      '`unexamined`: the definition is too large to be examined as a whole; the check ended here. `unusable_schema`: nobody can call the tool, for the reason in `excerpt`',
    ),
  at: z.string().describe('Where in the definition, as a JSON Pointer'),
  excerpt: z.string().describe('The text at this place; invisible characters are written as their code, `\\u{200B}`'),
});
export type DefinitionFlag = z.infer<typeof definitionFlagSchema>;
