import { z } from 'zod';
import { secretSchema } from '../api.ts';
import { align } from '../text/align.ts';
import { defineCommand } from './command.ts';
import { parseAnswer } from './parse-answer.ts';
import { administratorFrom, administratorOptions } from './secrets-options.ts';
import { lineWidth, paint, print, printJson, remark } from './terminal.ts';

// Looser than the contract: a newer server may say more than we know of, and --json shows it.
const listSchema = z.looseObject({ secrets: z.array(z.looseObject(secretSchema.shape)) });

export const secretsList = defineCommand({
  operands: '',
  operandCount: [0, 0],
  options: administratorOptions,
  notes: ['Shows only names and dates: the value of a secret is never shown again.'],
  examples: ['toolcrib secrets list', 'toolcrib secrets list --json'],
  async run(given) {
    const { client, token } = await administratorFrom(given);
    const answer = parseAnswer(listSchema, await client.json('GET', '/api/secrets', { token }), client.url);
    if (given.on('json')) printJson(answer);
    else if (answer.secrets.length === 0) remark('There are no secrets. `toolcrib secrets set <name>` creates one.');
    else {
      const rows = answer.secrets.map(({ name, updated_at }) => [name, `set ${new Date(updated_at).toISOString()}`]);
      const painter = (text: string, column: number) => (column === 0 ? paint('bold', text) : text);
      print(align(rows, { width: lineWidth(), paint: painter }).join('\n'));
    }
    return 0;
  },
});
