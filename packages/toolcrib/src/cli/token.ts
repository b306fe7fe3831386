import { jsonOption, urlOption } from './client-options.ts';
import { createClient } from './client.ts';
import { defineCommand } from './command.ts';
import { requestDevToken } from './dev-token.ts';
import { print, printJson } from './terminal.ts';

export const token = defineCommand({
  operands: '<user>',
  operandCount: [1, 1],
  options: { ...urlOption, ...jsonOption },
  notes: [
    'Only a server in development mode issues tokens, for alice, bob and admin.',
    'In production, tokens come from the identity provider.',
  ],
  examples: ['toolcrib token alice', 'TOOLCRIB_TOKEN=$(toolcrib token bob) toolcrib tools'],
  async run(given) {
    const [user = ''] = given.operands;
    const response = await requestDevToken(createClient(given.required('url'), { named: given.origin('url') }), user);
    if (given.on('json')) printJson(response);
    else print(response.access_token);
    return 0;
  },
});
