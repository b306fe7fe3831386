import { z } from 'zod';
import { userConnectionListSchema, userConnectionSchema } from '../api.ts';
import { CribError } from '../model/crib-error.ts';
import { align } from '../text/align.ts';
import { defineCommand } from './command.ts';
import { parseAnswer } from './parse-answer.ts';
import { administratorFrom, administratorOptions } from './secrets-options.ts';
import { lineWidth, paint, print, printJson, remark } from './terminal.ts';
import { UsageError } from '../model/usage-error.ts';

// Looser than the contract: a newer server may say more than we know of, and --json shows it.
const listSchema = z.looseObject({ ...userConnectionListSchema.shape, connections: z.array(z.looseObject(userConnectionSchema.shape)) });
type Listed = z.infer<typeof listSchema>['connections'];

export const connections = defineCommand({
  operands: '[user]',
  operandCount: [0, 1],
  options: {
    ...administratorOptions,
    source: { value: 'namespace', help: 'Only connections to this source' },
    end: { help: 'Ends the connections of the user: deletes their tokens here and revokes them there' },
  },
  notes: ['Name a user by name, by subject, or by issuer and subject as --json shows them.', 'Your own connections: `toolcrib connect`.'],
  examples: [
    'toolcrib connections',
    'toolcrib connections bob',
    'toolcrib connections bob --end',
    'toolcrib connections bob --source wiki --end',
  ],
  async run(given) {
    const [user] = given.operands;
    const isEnding = given.on('end');
    if (isEnding && user === undefined) throw new UsageError('Name the user whose connections should end', { field: 'user' });
    const { client, token } = await administratorFrom(given);
    const source = given.text('source');
    const query = { source, limit: '1000' };
    const list = parseAnswer(listSchema, await client.json('GET', '/api/user-connections', { token, query }), client.url);
    const shown = user === undefined ? list.connections : list.connections.filter((one) => isOf(one, user));
    if (isEnding) {
      const ended = await client.json('DELETE', '/api/user-connections', { token, query: { owner: ownerIn(shown, user ?? ''), source } });
      if (given.on('json')) printJson(ended);
      else print(`${shown.length === 1 ? 'One connection' : `${shown.length} connections`} of ${user} ended.`);
    } else if (given.on('json')) printJson({ ...list, connections: shown });
    else if (shown.length === 0) remark('Nobody is connected.');
    else print(table(shown));
    return 0;
  },
});

function isOf({ user, owner }: Listed[number], written: string): boolean {
  return user === written || owner === written || owner.endsWith(` ${written}`);
}

/** If two people have the same name, no connection is ended. */
function ownerIn(found: Listed, written: string): string {
  const [owner, ...others] = new Set(found.map((one) => one.owner));
  if (owner === undefined) throw new CribError('NOT_FOUND', `${written} has no such connection: \`toolcrib connections\` lists all`);
  if (others.length === 0) return owner;
  throw new UsageError(
    `Several users are called ${written}. Name one as ${[owner, ...others].map((one) => JSON.stringify(one)).join(' or ')}`,
    {
      field: 'user',
    },
  );
}

function table(listed: Listed): string {
  const rows = listed.map(({ user, owner, namespace, connected_at }) => {
    return [user ?? '', namespace, new Date(connected_at).toISOString(), owner.slice(owner.indexOf(' ') + 1)];
  });
  const painter = (text: string, column: number, row: number) =>
    row === 0 ? paint('dim', text) : column === 0 ? paint('bold', text) : text;
  return align([['USER', 'SOURCE', 'SINCE', 'SUBJECT'], ...rows], { width: lineWidth(), paint: painter }).join('\n');
}
