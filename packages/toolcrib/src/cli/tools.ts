import { z } from 'zod';
import { listedToolSchema, toolListSchema } from '../api.ts';
import { align } from './align.ts';
import { callerFrom, type Caller } from './caller.ts';
import { clientOptions } from './client-options.ts';
import { defineCommand } from './command.ts';
import { parseAnswer } from './parse-answer.ts';
import { lineWidth, paint, print, printJson, remark } from './terminal.ts';

// Looser than the contract: a newer server may say more than we know of, and --json shows it.
const pageSchema = z.looseObject({
  ...toolListSchema.shape,
  tools: z.array(z.looseObject(listedToolSchema.pick({ name: true, description: true }).shape)),
});
/** The server gives no more on a page. */
const largestPage = 1000;
type Page = z.infer<typeof pageSchema>;

export const tools = defineCommand({
  operands: '[query]',
  operandCount: [0, 1],
  options: {
    ...clientOptions,
    group: { value: 'id', help: 'Only tools of this group' },
    limit: { value: 'number', help: 'How many tools; all unless told, 10 of a search' },
  },
  examples: [
    'toolcrib tools',
    'toolcrib tools "convert units"',
    'toolcrib tools "send a message" --limit 30',
    'toolcrib tools --as bob --json',
  ],
  async run(given) {
    const caller = await callerFrom(given);
    const [query] = given.operands;
    const group = given.text('group');
    const list = await readList(caller, {
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

/** The whole list in the form of one page; of a search, and where there is a limit, the first page alone. */
async function readList({ client, token }: Caller, query: { q?: string; group?: string; limit?: number }): Promise<Page> {
  let cursor: string | undefined;
  let whole: Page | undefined;
  do {
    const page = parseAnswer(
      pageSchema,
      await client.json('GET', '/api/bff/tools', { token, query: { ...query, limit: query.limit?.toString(), cursor } }),
      client.url,
    );
    if (query.q !== undefined || query.limit !== undefined) return page;
    whole = { ...page, tools: [...(whole?.tools ?? []), ...page.tools], next_cursor: null };
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return whole;
}

function whyEmpty({ user }: Caller, filtered: boolean): string {
  const explain = `toolcrib policy explain ${user === undefined ? '--token <jwt>' : `--as ${user}`}`;
  if (filtered) return 'None of the tools you may use fits. `toolcrib tools` shows them all.';
  return `There are no tools for this user: perhaps no policy grants any. \`${explain}\` says why.`;
}
