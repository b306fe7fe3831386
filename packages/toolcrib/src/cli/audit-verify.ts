import { z } from 'zod';
import { auditVerdictSchema } from '../api.ts';
import { parseHead } from '../model/audit.ts';
import { CribError } from '../model/crib-error.ts';
import { align } from './align.ts';
import { defineCommand } from './command.ts';
import { parseAnswer } from './parse-answer.ts';
import { administratorFrom, administratorOptions } from './secrets-options.ts';
import { complain, lineWidth, paint, print, printJson, remark } from './terminal.ts';
import { UsageError } from './usage-error.ts';

// Looser than the contract: a newer server may say more than we know of, and --json shows it.
const verdictSchema = z.looseObject(auditVerdictSchema.shape);
type Ledger = z.infer<typeof verdictSchema>['ledgers'][number];
type Problem = Ledger['problems'][number];

export const auditVerify = defineCommand({
  operands: '',
  operandCount: [0, 0],
  options: {
    expect: { value: 'head', help: 'A head that was noted earlier and must still be there', many: true },
    ...administratorOptions,
  },
  notes: [
    'Checks that no row of the record was changed, removed, moved or put in since it was written. Ends with 1 where something is wrong.',
    'A head stands for every row before it. The server writes the newest ones to its log every hour and when it stops (audit-head); kept where',
    'nobody who can change the database reaches them, they show that the end of the record was not cut off either.',
  ],
  examples: ['toolcrib audit verify', 'toolcrib audit verify --expect calls:12:3456:<mac>'],
  async run(given) {
    const expected = given.list('expect');
    for (const head of expected) checkHead(head);
    const { client, token } = await administratorFrom(given);
    const query = { expect: expected.length === 0 ? undefined : expected.join(',') };
    const answer = await client.json('GET', '/api/audit/verify', { token, query, silenceMs: 0 });
    const verdict = parseAnswer(verdictSchema, answer, client.url);
    if (given.on('json')) printJson(verdict);
    else describe(verdict.ledgers, expected.length);
    return verdict.ok ? 0 : 1;
  },
});

function checkHead(head: string): void {
  try {
    parseHead(head);
  } catch (error) {
    if (error instanceof CribError) throw new UsageError(error.message, { field: 'expect' });
    throw error;
  }
}

function describe(ledgers: readonly Ledger[], expected: number): void {
  const rows = ledgers.map(({ ledger, rows: count, chains, unchained, problems }) => [
    ledger,
    problems.length === 0 ? 'as written' : problems.length === 1 ? '1 problem' : `${problems.length} problems`,
    `${count} rows in ${chains} chains${unchained === 0 ? '' : `, and ${unchained} from before there were chains`}`,
  ]);
  const painter = (text: string, column: number, row: number) => {
    if (column === 1) return paint(ledgers[row]?.problems.length === 0 ? 'green' : 'red', text);
    return column === 0 ? paint('bold', text) : text;
  };
  print(align(rows, { width: lineWidth(), paint: painter }).join('\n'));
  for (const { ledger, problems } of ledgers) for (const problem of problems) complain(`${ledger}: ${describeProblem(problem)}`);
  if (expected > 0 && ledgers.every(({ problems }) => problems.length === 0)) print('Every head that was expected is there.');
  const heads = ledgers.flatMap((ledger) => ledger.heads);
  if (heads.length > 0) remark(`Heads to note:\n${heads.map((head) => `  ${head}`).join('\n')}`);
}

function describeProblem({ chain, seq, id, problem }: Problem): string {
  const place = [chain === null ? [] : `chain ${chain}`, seq === null ? [] : `row ${seq}`, id === null ? [] : id].flat().join(', ');
  return place === '' ? problem : `${place}: ${problem}`;
}
