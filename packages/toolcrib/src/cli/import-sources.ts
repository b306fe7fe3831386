import { readFile } from 'node:fs/promises';
import { text as readText } from 'node:stream/consumers';
import { CribError } from '../model/crib-error.ts';
import { parseImport } from '../sources/mcp/registration/import-config.ts';
import { defineCommand } from './command.ts';
import { importPlan, planTable } from './import-plan.ts';
import { outcomeTable, registerAll, waitForAll } from './import-register.ts';
import { interruptedCode, interruptSignal } from './interrupt-signal.ts';
import { administratorFrom, administratorOptions } from './secrets-options.ts';
import { createSourceClient } from './source-client.ts';
import { print, printJson, remark } from './terminal.ts';
import { UsageError } from './usage-error.ts';

export const importSources = defineCommand({
  operands: '<file>',
  operandCount: [1, 1],
  options: {
    ...administratorOptions,
    'dry-run': { help: 'Only shows what would be registered' },
    'no-wait': { help: 'Does not wait until the sources have started' },
  },
  notes: [
    'Reads the mcpServers of desktop clients and editors (comments are allowed), and UTCP call templates and manuals; `-` is standard input.',
    'Every server becomes a source that is kept running. One that cannot be registered does not stop the others.',
  ],
  examples: [
    'toolcrib import ~/.cursor/mcp.json --dry-run',
    'toolcrib import .vscode/mcp.json',
    'toolcrib import - < claude_desktop_config.json',
  ],
  async run(given) {
    const json = given.on('json');
    const plan = await importPlan(parseImport(await readConfig(given.operands[0] ?? '')));
    if (given.on('dry-run')) {
      if (json) printJson({ entries: plan.map(({ entry, namespace, starts, problem }) => ({ entry, namespace, starts, problem })) });
      else print(planTable(plan));
      return plan.some(({ problem }) => problem !== null) ? 1 : 0;
    }
    const sources = createSourceClient(await administratorFrom(given));
    if (!json) remark(planTable(plan));
    const registered = await registerAll(plan, sources);
    const signal = interruptSignal();
    const outcomes = given.on('no-wait') ? registered : await waitForAll(registered, sources, signal);
    if (json) printJson({ entries: outcomes });
    else print(outcomeTable(outcomes));
    if (signal.aborted) {
      remark('No longer watching. What is registered goes on: `toolcrib sources` says how it went.');
      return interruptedCode;
    }
    return outcomes.some(({ error }) => error !== null) ? 1 : 0;
  },
});

async function readConfig(path: string): Promise<string> {
  if (path === '-') return readText(process.stdin);
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new UsageError(`There is no file ${path}`, { cause });
    throw new CribError('VALIDATION_ERROR', `The file ${path} cannot be read (${code ?? String(cause)})`, { cause });
  }
}
