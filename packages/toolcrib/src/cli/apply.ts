import type { ConfigFile } from '../administration/configuration/parse-config-file.ts';
import { agreed, canAsk } from './agreed.ts';
import { defineCommand } from './command.ts';
import { createConfigClient, type ConfigClient, type ShownApplied, type ShownTest } from './config-client.ts';
import { describeApplied, describePlan, describeTests } from './describe-plan.ts';
import { interruptSignal } from './interrupt-signal.ts';
import { readConfigFile, usualConfigFile } from './read-config-file.ts';
import { administratorFrom, administratorOptions } from './secrets-options.ts';
import { createSourceClient, type Administrator } from './source-client.ts';
import { print, printJson, remark } from './terminal.ts';
import { UsageError } from '../model/usage-error.ts';

export const apply = defineCommand({
  operands: '[file]',
  operandCount: [0, 1],
  options: {
    ...administratorOptions,
    yes: { short: 'y', help: 'Applies without asking' },
    wait: { help: 'Waits until the sources have started, and then runs the tests whose outcome was unknown' },
  },
  notes: [
    `Applies the sources, groups and policies of a file to a running server (${usualConfigFile} by default).`,
    'Shows the plan and asks first. Changes nothing if a test in the file fails.',
    'Deletes something missing from the file only if an earlier `apply` created it. Exits with 1 if a change fails.',
  ],
  examples: ['toolcrib apply', 'toolcrib apply staging.yaml --yes --wait'],
  async run(given) {
    const [path = usualConfigFile] = given.operands;
    const [json, ask] = [given.on('json'), !given.on('yes')];
    if (ask && (json || !canAsk()))
      throw new UsageError(
        'This is not a terminal, so nobody can confirm: pass --yes to apply without asking; `toolcrib plan` shows the changes',
        { field: 'yes' },
      );
    const file = await readConfigFile(path);
    const administrator = await administratorFrom(given);
    const client = createConfigClient(administrator, file, path);
    const planned = await client.plan();
    if (!json) print(describePlan(planned));
    if (!json && planned.tests.length > 0) print(`\n${describeTests(planned.tests)}`);
    if (hasFailed(planned.tests)) {
      if (json) printJson(planned);
      else remark('Nothing was changed, because a test fails.');
      return 1;
    }
    if (ask && planned.changes.length > 0 && !(await agreed('Apply this? [y/N] '))) {
      remark('Nothing was changed.');
      return 1;
    }
    const applied: ShownApplied =
      planned.changes.length === 0 ? { changes: [], tests: planned.tests } : await client.apply(planned.fingerprint);
    if (!json && applied.changes.length > 0) print(`\n${describeApplied(applied)}`);
    const tests = given.on('wait') ? await settledTests(administrator, file, client) : applied.tests;
    if (json) printJson({ ...applied, tests });
    else if (given.on('wait') && tests.length > 0) print(`\n${describeTests(tests)}`);
    // After --wait, a test is still unknown only if its source does not run.
    const isUnknown = given.on('wait') && tests.some(({ outcome }) => outcome === 'unknown');
    return applied.changes.some(({ outcome }) => outcome !== 'done') || hasFailed(tests) || isUnknown ? 1 : 0;
  },
});

async function settledTests(administrator: Administrator, { wished }: ConfigFile<unknown>, client: ConfigClient): Promise<ShownTest[]> {
  const sources = createSourceClient(administrator);
  const signal = interruptSignal();
  const { sources: known } = await sources.list();
  const wanted = known.filter(({ namespace }) => wished.sources[namespace]?.enabled === true);
  await Promise.all(wanted.map(({ id }) => sources.settled(id, signal)));
  return (await client.plan()).tests;
}

function hasFailed(tests: readonly ShownTest[]): boolean {
  return tests.some(({ outcome }) => outcome === 'failed');
}
