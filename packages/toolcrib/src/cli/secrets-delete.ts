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
    force: { help: 'Deletes it even if sources use it; those sources can no longer start' },
    ...administratorOptions,
  },
  notes: ['Asks first; without a terminal it needs --yes. A secret that sources use is deleted only with --force.'],
  examples: ['toolcrib secrets delete github-token', 'toolcrib secrets delete github-token --yes --force'],
  async run(given) {
    const name = checkedSecretName(given.operands[0]);
    if (!given.on('yes')) {
      refuseUnasked(`delete ${name}`);
      if (!(await agreed(`Delete the secret ${name}? Its value cannot be recovered. [y/N] `))) {
        remark('Nothing was deleted.');
        return 1;
      }
    }
    const { client, token } = await administratorFrom(given);
    const response = await client.send('DELETE', `/api/secrets/${name}`, {
      token,
      query: { force: given.on('force') ? 'true' : undefined },
    });
    // A success has no body.
    if (response.status !== 204) await readJson(client.url, response);
    if (given.on('json')) printJson({ deleted: name });
    else print(`${name} is deleted.`);
    return 0;
  },
});
