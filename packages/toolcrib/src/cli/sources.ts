import { closest } from '../model/closest.ts';
import { defineCommand } from './command.ts';
import { administratorFrom, administratorOptions } from './secrets-options.ts';
import { createSourceClient } from './source-client.ts';
import { changeAllSources, isForAll } from './sources-all.ts';
import { approveSource } from './sources-approve.ts';
import { changeSource, isSourceChange, sourceChanges } from './sources-change.ts';
import { showDifferences } from './sources-differences.ts';
import { sourceTable } from './sources-table.ts';
import { restoreDemo } from './sources-restore-demo.ts';
import { removeSource } from './sources-remove.ts';
import { showSource } from './sources-show.ts';
import { print, printJson, remark } from './terminal.ts';
import { UsageError } from '../model/usage-error.ts';

const actions = ['show', ...sourceChanges, 'differences', 'approve', 'remove', 'restore-demo'];

export const sources = defineCommand({
  operands: '[action] [source]',
  operandCount: [0, 2],
  options: {
    ...administratorOptions,
    tool: { value: 'name', many: true, help: 'Approves this tool only' },
    all: { help: 'Starts, stops or restarts every enabled source' },
    yes: { short: 'y', help: 'Removes or approves without asking' },
  },
  notes: [
    'Without an action, lists all sources. With an action and the namespace of a source:',
    '  show              shows everything about it, and its tools',
    '  start, stop       starts or stops it; its tools are not listed while it is stopped',
    '  restart           stops it and starts it again, also after a failure',
    '  refresh           asks it for its tools again, and shows what changed',
    '  enable, disable   a disabled source stays stopped when Toolcrib restarts',
    '  differences       shows new and changed tools that wait for approval',
    '  approve           shows them and asks whether to allow them',
    '  remove            stops it and deletes it with its tools and its secrets',
    'In development, restore-demo restores the demo and the pizzeria of the first start.',
  ],
  examples: [
    'toolcrib sources',
    'toolcrib sources show everything',
    'toolcrib sources restart everything',
    'toolcrib sources stop --all',
    'toolcrib sources approve everything --tool echo',
    'toolcrib sources remove everything',
    'toolcrib sources restore-demo',
  ],
  async run(given) {
    const [action, written] = given.operands;
    if (action !== undefined && !actions.includes(action)) throw unknownAction(action);
    if (action === 'restore-demo') {
      if (written !== undefined) throw new UsageError(`${JSON.stringify(written)} is one argument too many`);
      return restoreDemo(await administratorFrom(given), { json: given.on('json') });
    }
    if (given.on('all')) {
      if (action === undefined || !isForAll(action)) throw new UsageError('--all is for start, stop and restart', { field: 'all' });
      if (written !== undefined) throw new UsageError(`Give --all or ${written}, not both`, { field: 'all' });
      return changeAllSources(await administratorFrom(given), action, { json: given.on('json') });
    }
    if (action !== undefined && written === undefined) throw new UsageError(`${action} needs the namespace of a source`);
    const administrator = await administratorFrom(given);
    const client = createSourceClient(administrator);
    const json = given.on('json');
    if (action === undefined || written === undefined) {
      const list = await client.list();
      if (json) printJson(list);
      else print(sourceTable(list.sources));
      if (!json && list.sources.every(({ definition }) => definition === null))
        remark('There are only the built-in tools yet. `toolcrib add npx @modelcontextprotocol/server-everything` adds a source to try.');
      return 0;
    }
    const source = await client.find(written);
    if (action === 'show') return showSource(administrator, source, { json });
    if (action === 'differences') return showDifferences(administrator, source, { json });
    if (action === 'approve') return approveSource(administrator, source, { json, ask: !given.on('yes'), tools: given.list('tool') });
    if (action === 'remove') return removeSource(client, source, { json, ask: !given.on('yes') });
    return isSourceChange(action) ? changeSource(administrator, source, action, { json }) : 1;
  },
});

function unknownAction(action: string): UsageError {
  const meant = closest(action, actions);
  const hint =
    meant === undefined
      ? `\`toolcrib sources show ${action}\` shows the source of that name`
      : `did you mean \`toolcrib sources ${meant}\`?`;
  return new UsageError(`There is no \`sources ${action}\`: ${hint}`);
}
