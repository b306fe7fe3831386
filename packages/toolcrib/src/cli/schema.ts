import { z } from 'zod';
import { configFileSchema } from '../administration/configuration/parse-config-file.ts';
import { defineCommand } from './command.ts';
import { serverSettingsSchema } from './server-settings.ts';
import { printJson } from './terminal.ts';

export const schema = defineCommand({
  operands: '',
  operandCount: [0, 0],
  options: {},
  notes: [
    'With the schema, an editor completes and checks the file. Start the file with `# yaml-language-server: $schema=toolcrib.schema.json`.',
  ],
  examples: ['toolcrib schema > toolcrib.schema.json'],
  async run() {
    printJson(configFileJsonSchema());
    return 0;
  },
});

/** [SRC-6] The JSON Schema of toolcrib.yaml, made from the schema that reads it. */
export function configFileJsonSchema(): object {
  return { title: 'toolcrib.yaml', ...z.toJSONSchema(configFileSchema(serverSettingsSchema), { io: 'input', target: 'draft-7' }) };
}
