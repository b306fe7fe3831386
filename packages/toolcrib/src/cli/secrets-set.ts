import { z } from 'zod';
import { setSecretSchema } from '../api.ts';
import { defineCommand } from './command.ts';
import { parseAnswer } from './parse-answer.ts';
import { readSecretValue } from './read-secret-value.ts';
import { checkedSecretName } from './secret-name.ts';
import { administratorFrom, administratorOptions } from './secrets-options.ts';
import { print, printJson } from './terminal.ts';

export const secretsSet = defineCommand({
  operands: '<name>',
  operandCount: [1, 1],
  options: {
    ...administratorOptions,
    value: {
      value: 'text',
      help: 'The value. Others on this machine can see it while the command runs, and the shell may keep it in its history',
    },
  },
  notes: [
    'Without --value, the value is read from standard input, without a line break at the end. At a terminal, you type it without it being shown.',
  ],
  examples: ['toolcrib secrets set github-token < token.txt', 'toolcrib secrets set github-token'],
  async run(given) {
    const name = checkedSecretName(given.operands[0]);
    const value = given.text('value') ?? (await readSecretValue(process.stdin));
    const { client, token } = await administratorFrom(given);
    const answer = await client.json('PUT', `/api/secrets/${name}`, { token, body: { value } });
    const secret = parseAnswer(
      z.looseObject({ ...setSecretSchema.shape, kept_by: setSecretSchema.shape.kept_by.catch([]) }),
      answer,
      client.url,
    );
    if (given.on('json')) printJson(secret);
    else {
      const old = secret.kept_by.map(
        (source) => `${source} runs with the old value: \`toolcrib sources restart ${source}\` uses the new one.`,
      );
      print([`${secret.name} is set.`, ...old].join('\n'));
    }
    return 0;
  },
});
