import { defineCommand } from './command.ts';
import { createConfigClient } from './config-client.ts';
import { describePlan, describeTests } from './describe-plan.ts';
import { readConfigFile, usualConfigFile } from './read-config-file.ts';
import { administratorFrom, administratorOptions } from './secrets-options.ts';
import { print, printJson } from './terminal.ts';

export const plan = defineCommand({
  operands: '[file]',
  operandCount: [0, 1],
  options: administratorOptions,
  notes: [
    `Compares the sources, groups and policies of a file (${usualConfigFile} by default) with those of a running server. Changes nothing.`,
    '`apply` deletes something missing from the file only if an earlier `apply` created it.',
    'Exits with 0 if there is nothing to do, with 2 if there are changes, and with 1 if a test in the file fails.',
  ],
  examples: ['toolcrib plan', 'toolcrib plan staging.yaml --url https://tools.example.org --token "$TOKEN"', 'toolcrib plan --json'],
  async run(given) {
    const [path = usualConfigFile] = given.operands;
    const file = await readConfigFile(path);
    const planned = await createConfigClient(await administratorFrom(given), file, path).plan();
    if (given.on('json')) printJson(planned);
    else {
      print(describePlan(planned));
      if (planned.tests.length > 0) print(`\n${describeTests(planned.tests)}`);
    }
    if (planned.tests.some(({ outcome }) => outcome === 'failed')) return 1;
    return planned.changes.length === 0 ? 0 : 2;
  },
});
