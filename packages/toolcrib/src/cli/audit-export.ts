import { once } from 'node:events';
import { auditLedgers } from '../model/audit.ts';
import { readJson } from './client.ts';
import { defineCommand } from './command.ts';
import { administratorFrom, administratorOptions } from './secrets-options.ts';
import { UsageError } from '../model/usage-error.ts';

const { json: _json, ...options } = administratorOptions;

export const auditExport = defineCommand({
  operands: '',
  operandCount: [0, 0],
  options: {
    from: { value: 'time', help: 'Entries from this time on, such as 2026-11-01 or 2026-11-01T12:00:00Z' },
    until: { value: 'time', help: 'Entries before this time' },
    ledger: { value: 'name', help: 'Only calls, changes or refusals', many: true },
    ...options,
  },
  notes: ['One JSON object per line, the oldest first: calls, then changes, then refusals. A date without a time means midnight UTC.'],
  examples: ['toolcrib audit export > audit.ndjson', 'toolcrib audit export --ledger changes --from 2026-11-01 > changes.ndjson'],
  async run(given) {
    const ledgers = given.list('ledger');
    const strange = ledgers.find((name) => !auditLedgers.some((known) => known === name));
    if (strange !== undefined) throw new UsageError(`--ledger must be one of ${auditLedgers.join(', ')}`, { field: 'ledger' });
    const query = {
      from: momentOf(given.text('from'), 'from'),
      until: momentOf(given.text('until'), 'until'),
      ledger: ledgers.length === 0 ? undefined : ledgers.join(','),
    };
    const { client, token } = await administratorFrom(given);
    const response = await client.send('GET', '/api/audit', { token, query, accept: 'application/x-ndjson' });
    if (response.status !== 200) await readJson(client.url, response);
    for await (const chunk of response.body) if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
    return 0;
  },
});

function momentOf(text: string | undefined, field: string): string | undefined {
  if (text === undefined) return undefined;
  const at = /^\d{4}-\d\d-\d\d(T.+)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at) || at < 0) throw new UsageError(`--${field} must be a time such as 2026-11-01T12:00:00Z`, { field });
  return String(at);
}
