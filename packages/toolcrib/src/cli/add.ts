import { CribError } from '../model/crib-error.ts';
import type { CommandLine } from '../sources/registration/command-line.ts';
import { askedSecrets } from '../sources/registration/command-line/basic-credential.ts';
import { addDryRun } from './add-dry-run.ts';
import { addOptions } from './add-options.ts';
import { addRegistration } from './add-registration.ts';
import { addReport } from './add-report.ts';
import { addVariables } from './add-variables.ts';
import { defineCommand } from './command.ts';
import { describeMissing } from './describe-missing.ts';
import type { Given } from './given.ts';
import { interruptedCode, interruptSignal } from './interrupt-signal.ts';
import { kinds } from './kinds.ts';
import { administratorFrom } from './secrets-options.ts';
import { createSourceClient, type SourceClient } from './source-client.ts';
import { print, printJson, remark } from './terminal.ts';
import { whileWatching } from './while-watching.ts';

export const add = defineCommand({
  operands: `<${[...new Set(kinds.flatMap(({ operands }) => operands))].join(' | ')}> [arguments…]`,
  strayOptions: 'Write options of the server after `--`',
  launchers: Object.assign({}, ...kinds.map(({ launchers }) => launchers)),
  // A missing operand gets a message of its own.
  operandCount: [0, 400],
  options: addOptions,
  notes: [
    'Registers a source, waits until it has started, and lists its tools.',
    ...kinds.flatMap(({ notes }) => notes),
    'A source that fails to start stays registered. Ctrl-C only ends the watching.',
  ],
  examples: kinds.flatMap(({ examples }) => examples),
  async run(given) {
    // Before a secret is asked for, so that nobody types one in vain.
    const { kind, formWith } = addRegistration(given);
    const variables = await addVariables({ env: given.list('env'), secret: askedSecrets(given) }, process.stdin);
    const administrator = await administratorFrom(given);
    const sources = createSourceClient(administrator);
    const json = given.on('json');
    const form = formWith(variables);
    if (given.on('dry-run')) return addDryRun(sources, { kind, form }, { json });
    const source = await sources.register(form).catch((error: unknown) => explainRefusal(error, { sources, kind, form }));
    if (given.on('no-wait')) {
      if (json) printJson(source);
      else print(`${source.namespace} is registered and being started: \`toolcrib sources show ${source.namespace}\` shows how it went.`);
      return 0;
    }
    const signal = interruptSignal();
    try {
      const watched = { id: source.id, label: `Starting ${source.namespace}`, isNew: true, signal };
      const settled = await whileWatching(administrator, watched, () => sources.settled(source.id, signal));
      if (json) printJson(settled);
      else await addReport(administrator, settled, { asTyped: (command) => asTyped(command, given) });
      return settled.status.state === 'running' ? 0 : 1;
    } catch (error) {
      if (!signal.aborted) throw error;
      remark(`No longer watching. ${source.namespace} stays registered and keeps starting: \`toolcrib sources show ${source.namespace}\``);
      return interruptedCode;
    }
  },
});

interface RefusedForm {
  sources: SourceClient;
  kind: CommandLine;
  form: object;
}

async function explainRefusal(thrown: unknown, { sources, kind, form }: RefusedForm): Promise<never> {
  if (!(thrown instanceof CribError)) throw thrown;
  const { code, message, field } = thrown;
  // Most often the same thing was added before.
  if (code === 'CONFLICT') {
    const advice = '`toolcrib sources` lists what is there; give this one another --name or --namespace.';
    throw new CribError(code, `${message} ${advice}`, { cause: thrown });
  }
  if (code !== 'VALIDATION_ERROR' || field === undefined) throw thrown;
  // A refusal names the first value that is missing, a preview names them all. A form that is wrong in other ways has no preview.
  const preview = await sources.preview(form, { discover: false }).catch(() => undefined);
  if (preview?.missing.includes(field) !== true) throw thrown;
  throw new CribError(code, describeMissing(kind, preview), { cause: thrown });
}

/** The next command, in the form in which this one was typed. */
function asTyped(command: string, given: Given): string {
  const program = process.env.npm_command === 'exec' ? 'npx toolcrib' : 'toolcrib';
  return `${program} ${command}${given.origin('url') === '--url' ? ` --url ${given.required('url')}` : ''}`;
}
