import { agreed, refuseUnasked } from './agreed.ts';
import { readJson } from './client.ts';
import { defineCommand } from './command.ts';
import { checkedSecretName } from './secret-name.ts';
import { administratorFrom, administratorOptions } from './secrets-options.ts';
import { print, printJson, remark } from './terminal.ts';

export const secretsDelete = defineCommand({
  operands: '<name>',
  operandCount: [1, 1],
  options: {
    yes: { short: 'y', help: 'Deletes without asking' },
    force: { help: 'Deletes it also where sources refer to it; they cannot be started any more' },
    ...administratorOptions,
  },
  notes: ['Asks first; where nobody can be asked it wants --yes. A secret that sources refer to is not deleted without --force.'],
  examples: ['toolcrib secrets delete github-token', 'toolcrib secrets delete github-token --yes --force'],
  async run(given) {
    const name = checkedSecretName(given.operands[0]);
    if (!given.on('yes')) {
      refuseUnasked(`delete ${name}`);
      if (!(await agreed(`Delete the secret ${name}? Nobody can read its value first. [y/N] `))) {
        remark('Nothing was deleted.');
        return 1;
      }
    }
    const { client, token } = await administratorFrom(given);
    const response = await client.send('DELETE', `/api/secrets/${name}`, {
      token,
      query: { force: given.on('force') ? 'true' : undefined },
    });
    // There is nothing to read where it went well.
    if (response.status !== 204) await readJson(client.url, response);
    if (given.on('json')) printJson({ deleted: name });
    else print(`${name} is deleted.`);
    return 0;
  },
});
