import { UsageError } from '../model/usage-error.ts';
import { align } from '../text/align.ts';
import { callerFrom, type Caller } from './caller.ts';
import { clientOptions } from './client-options.ts';
import { defineCommand } from './command.ts';
import type { Given } from './given.ts';
import { lineWidth, paint, print, printJson, remark } from './terminal.ts';
import { listTools } from './tool-client.ts';
import { readWeights, weightTables } from './tool-weights.ts';

/** The server returns no more on a page. */
const largestPage = 1000;

export const tools = defineCommand({
  operands: '[query]',
  operandCount: [0, 1],
  options: {
    ...clientOptions,
    group: { value: 'id', help: 'Only tools of this group' },
    weight: { help: 'What the list costs a model, at each address for MCP clients, and its heaviest tools' },
    limit: { value: 'number', help: 'How many tools; by default all, or 10 for a search' },
  },
  examples: [
    'toolcrib tools',
    'toolcrib tools "convert units"',
    'toolcrib tools "send a message" --limit 30',
    'toolcrib tools --as bob --json',
    'toolcrib tools --weight',
  ],
  async run(given) {
    const caller = await callerFrom(given);
    const [query] = given.operands;
    const group = given.text('group');
    if (given.on('weight')) return weigh(caller, given);
    const list = await listTools(caller, {
      q: query,
      group,
      limit: given.text('limit') === undefined ? undefined : given.number('limit', { least: 1, most: largestPage }),
    });
    if (given.on('json')) printJson(list);
    else if (list.tools.length === 0) remark(whyEmpty(caller, query !== undefined || group !== undefined));
    else {
      const rows = list.tools.map(({ name, description }) => [name, description]);
      const painter = (text: string, column: number) => (column === 0 ? paint('bold', text) : text);
      print(align(rows, { width: lineWidth(), paint: painter }).join('\n'));
      if (list.next_cursor !== null)
        remark(`These are ${list.tools.length} of ${list.total}. --limit ${Math.min(list.total, largestPage)} shows more.`);
    }
    return 0;
  },
});

async function weigh(caller: Caller, given: Given<'group' | 'limit' | 'json'>): Promise<number> {
  if (given.operands.length > 0 || given.text('group') !== undefined)
    throw new UsageError('--weight is about every address: give it no query and no --group');
  const weights = await readWeights(
    caller,
    given.text('limit') === undefined ? 10 : given.number('limit', { least: 1, most: largestPage }),
  );
  if (given.on('json')) printJson(weights);
  else if (weights.addresses.length === 0) remark('The MCP door of this server is closed: `toolcrib serve --mcp-door on` opens it.');
  else print(weightTables(weights));
  return 0;
}

function whyEmpty({ user }: Caller, filtered: boolean): string {
  const explain = `toolcrib policy explain ${user === undefined ? '--token <jwt>' : `--as ${user}`}`;
  if (filtered) return 'None of the tools you may use matches. `toolcrib tools` shows them all.';
  return `There are no tools for this user: perhaps no policy grants any. \`${explain}\` says why.`;
}
