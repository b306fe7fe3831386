import { callStatuses } from '../model/call.ts';
import { origins } from '../model/origin.ts';
import { followCalls, listCalls } from './call-client.ts';
import { createCallTable } from './call-table.ts';
import { defineCommand } from './command.ts';
import { requestDevToken } from './dev-token.ts';
import type { Given } from './given.ts';
import { interruptSignal } from './interrupt-signal.ts';
import { parseMoment } from './parse-moment.ts';
import { administratorFrom, administratorOptions } from './secrets-options.ts';
import { print, printJson, remark } from './terminal.ts';
import { UsageError } from '../model/usage-error.ts';

const filters = {
  status: {
    value: 'status',
    many: true,
    help: `Only calls with this status: ${callStatuses.filter((status) => status !== 'queued').join(', ')}`,
  },
  origin: { value: 'origin', many: true, help: `Only failures with this origin: ${origins.join(', ')}` },
  since: { value: 'time', help: 'Only calls started since then: 30m, 2h or 7d ago, today, yesterday, 2026-11-16, 2026-11-16T12:00' },
  until: { value: 'time', help: 'Only calls started before then' },
  tool: { value: 'name', help: 'Only calls of this tool' },
  source: { value: 'namespace', help: 'Only calls of tools of this source' },
  user: { value: 'user', help: 'Only calls of this person, by name or subject' },
} as const;
type FilterOption = keyof typeof filters;

export const calls = defineCommand({
  operands: '',
  operandCount: [0, 0],
  options: {
    ...filters,
    limit: { value: 'n', short: 'n', help: 'How many of the newest calls', default: '100' },
    follow: { short: 'f', help: 'Keeps showing calls as they end, until Ctrl-C' },
    ...administratorOptions,
  },
  notes: [
    'The last line is the newest call. Denied calls are listed as failed, with NOT_FOUND. Times are in the time zone of this machine.',
    'A failure that the tool itself reported is not an outage. --origin source,gateway shows only failures that an operator has to look at.',
    'Arguments and results are not recorded. With --json and --follow, every line is a JSON object.',
  ],
  examples: [
    'toolcrib calls',
    'toolcrib calls --status failed,timed_out --since yesterday --until today',
    'toolcrib calls --user alice --since 1h',
    'toolcrib calls --source everything -f',
  ],
  async run(given) {
    const query = queryOf(given);
    const limit = given.number('limit', { least: 1, most: 100_000 });
    const [json, follow] = [given.on('json'), given.on('follow')];
    const administrator = await administratorFrom(given);
    const table = createCallTable();
    const { calls: found, more, followCursor } = await listCalls(administrator, query, limit);
    if (json && !follow) {
      printJson({ calls: found });
      return 0;
    }
    if (json) for (const call of found) print(JSON.stringify(call));
    else if (found.length > 0 || follow) print(table.first(found).join('\n'));
    if (!follow) {
      if (found.length === 0) remark(nothingFound(given));
      else if (more) remark(`These are the newest ${found.length} calls. --limit shows more; --since and --until choose a time.`);
      return 0;
    }
    const known = new Set(found.map(({ call_id }) => call_id));
    const signal = interruptSignal();
    try {
      const following = followCalls(administrator, {
        query,
        from: followCursor,
        signal,
        renew: () => renewed(given, administrator.client),
        onLost: ({ message }) => remark(`${message}. Trying again until Ctrl-C.`),
      });
      for await (const ended of following) {
        // Calls that ended while the list was read are in both.
        const fresh = ended.filter(({ call_id }) => !known.delete(call_id));
        if (json) for (const call of fresh) print(JSON.stringify(call));
        else if (fresh.length > 0) print(table.further(fresh).join('\n'));
      }
    } catch (error) {
      // Ctrl-C is how following ends.
      if (!signal.aborted) throw error;
    }
    return 0;
  },
});

/** Only tokens of the development issuer can be renewed. */
function renewed(given: Given<'token'>, client: Parameters<typeof requestDevToken>[0]): Promise<string> | undefined {
  if (given.text('token') !== undefined) return undefined;
  return requestDevToken(client, 'admin').then(({ access_token }) => access_token);
}

function queryOf(given: Given<FilterOption>): Record<string, string | undefined> {
  const [from, until] = (['since', 'until'] as const).map((name) => {
    const text = given.text(name);
    return text === undefined ? undefined : parseMoment(text, name);
  });
  if (from !== undefined && until !== undefined && from >= until)
    throw new UsageError('--since must be before --until', { field: 'since' });
  return {
    status: listOf(given, 'status', callStatuses),
    origin: listOf(given, 'origin', origins),
    from: from?.toString(),
    until: until?.toString(),
    tool: given.text('tool'),
    source: given.text('source'),
    user: given.text('user'),
  };
}

/** Several values separated by commas, or one per option. */
function listOf(given: Given<FilterOption>, name: 'status' | 'origin', known: readonly string[]): string | undefined {
  const written = given.list(name).flatMap((text) => text.split(',').map((one) => one.trim()));
  const strange = written.find((one) => !known.includes(one));
  if (strange !== undefined)
    throw new UsageError(`--${name} must be one of ${known.join(', ')}, not ${JSON.stringify(strange)}`, { field: name });
  return written.length === 0 ? undefined : written.join(',');
}

function nothingFound(given: Given<FilterOption>): string {
  const used = (Object.keys(filters) as FilterOption[]).filter((name) => given.list(name).length > 0 || given.text(name) !== undefined);
  if (used.length === 0) return 'No tool has been called yet. `toolcrib call builtin:uuid` makes a first call.';
  return `No call matches ${used.map((name) => `--${name}`).join(', ')}. \`toolcrib calls\` without options shows the newest calls.`;
}
