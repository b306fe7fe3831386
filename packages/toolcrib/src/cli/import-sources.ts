import { readImport } from '../sources/import/read-import.ts';
import { defineCommand } from './command.ts';
import { outcomeTable, waitForAll } from './import-outcomes.ts';
import { importPlan, planTable } from './import-plan.ts';
import { interruptedCode, interruptSignal } from './interrupt-signal.ts';
import { readImportText } from './read-import-text.ts';
import { administratorFrom, administratorOptions } from './secrets-options.ts';
import { createSourceClient } from './source-client.ts';
import { print, printJson, remark } from './terminal.ts';

export const importSources = defineCommand({
  operands: '<file or address>',
  operandCount: [1, 1],
  options: {
    ...administratorOptions,
    name: { value: 'name', help: 'Name for the source of a UTCP manual; the file name by default' },
    update: { help: 'Replaces existing sources whose registration differs' },
    'dry-run': { help: 'Shows what would be registered, and registers nothing' },
    'no-wait': { help: 'Does not wait until the sources have started' },
  },
  notes: [
    'Reads the mcpServers of desktop clients and editors (comments are allowed), and UTCP call templates and manuals. `-` reads standard input.',
    'Every server becomes a source that keeps running. If one cannot be registered, the others still are.',
  ],
  examples: [
    'toolcrib import ~/.cursor/mcp.json --dry-run',
    'toolcrib import .vscode/mcp.json',
    'toolcrib import https://api.example.com/utcp',
    'toolcrib import - < claude_desktop_config.json',
  ],
  async run(given) {
    const json = given.on('json');
    const { config, name: found } = await readImportText(given.operands[0] ?? '');
    const name = given.text('name') ?? found;
    const plan = await importPlan(readImport(config, { name }));
    if (given.on('dry-run')) {
      if (json) printJson({ entries: plan });
      else print(planTable(plan));
      return plan.some(({ problem }) => problem !== null) ? 1 : 0;
    }
    const sources = createSourceClient(await administratorFrom(given));
    if (!json) remark(planTable(plan));
    const registered = await sources.import(config, { name, update: given.on('update') });
    const signal = interruptSignal();
    const outcomes = given.on('no-wait') ? registered : await waitForAll(registered, sources, signal);
    if (json) printJson({ entries: outcomes });
    else print(outcomeTable(outcomes));
    if (signal.aborted) {
      remark('No longer watching. The registered sources keep starting: `toolcrib sources` shows how it went.');
      return interruptedCode;
    }
    return outcomes.some(({ error }) => error !== null) ? 1 : 0;
  },
});
