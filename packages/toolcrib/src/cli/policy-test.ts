import { defineCommand } from './command.ts';
import { createConfigClient } from './config-client.ts';
import { describeTests } from './describe-plan.ts';
import { readConfigFile, usualConfigFile } from './read-config-file.ts';
import { administratorFrom, administratorOptions } from './secrets-options.ts';
import { print, printJson } from './terminal.ts';

export const policyTest = defineCommand({
  operands: '[file]',
  operandCount: [0, 1],
  options: administratorOptions,
  notes: [
    `Runs the tests in a file (${usualConfigFile} by default) against its groups and policies and the tools of a running server.`,
    'Changes nothing. Exits with 1 if a test fails.',
  ],
  examples: ['toolcrib policy test', 'toolcrib policy test staging.yaml --json'],
  async run(given) {
    const [path = usualConfigFile] = given.operands;
    const file = await readConfigFile(path);
    const { tests } = await createConfigClient(await administratorFrom(given), file, path).plan();
    if (given.on('json')) printJson({ tests });
    else print(tests.length === 0 ? `There are no tests in ${path}.` : describeTests(tests));
    return tests.some(({ outcome }) => outcome === 'failed') ? 1 : 0;
  },
});
