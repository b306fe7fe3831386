import { z } from 'zod';
import { auditVerdictSchema } from '../api.ts';
import { parseHead } from '../model/audit.ts';
import { CribError } from '../model/crib-error.ts';
import { align } from '../text/align.ts';
import { defineCommand } from './command.ts';
import { parseAnswer } from './parse-answer.ts';
import { administratorFrom, administratorOptions } from './secrets-options.ts';
import { complain, lineWidth, paint, print, printJson, remark } from './terminal.ts';
import { UsageError } from '../model/usage-error.ts';
import { counted } from '../text/counted.ts';

// Looser than the contract: a newer server may say more than we know of, and --json shows it.
const verdictSchema = z.looseObject(auditVerdictSchema.shape);
type Ledger = z.infer<typeof verdictSchema>['ledgers'][number];
type Problem = Ledger['problems'][number];

export const auditVerify = defineCommand({
  operands: '',
  operandCount: [0, 0],
  options: {
    expect: { value: 'head', help: 'A head that you noted earlier and that must still be there', many: true },
    ...administratorOptions,
  },
  notes: [
    'Checks that no row of the record was changed, removed, moved or inserted since it was written. Exits with 1 if something is wrong.',
    'A head vouches for every row before it. The server logs the newest heads every hour and when it stops (audit-head). Keep them out of',
    'reach of anyone who can change the database: they show whether the end of the record was cut off.',
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
    problems.length === 0 ? 'as written' : counted(problems.length, 'problem'),
    `${counted(count, 'row')} in ${counted(chains, 'chain')}${unchained === 0 ? '' : `, and ${unchained} from before there were chains`}`,
  ]);
  const painter = (text: string, column: number, row: number) => {
    if (column === 1) return paint(ledgers[row]?.problems.length === 0 ? 'green' : 'red', text);
    return column === 0 ? paint('bold', text) : text;
  };
  print(align(rows, { width: lineWidth(), paint: painter }).join('\n'));
  for (const { ledger, problems } of ledgers) for (const problem of problems) complain(`${ledger}: ${describeProblem(problem)}`);
  if (expected > 0 && ledgers.every(({ problems }) => problems.length === 0)) print('All expected heads are there.');
  const heads = ledgers.flatMap((ledger) => ledger.heads);
  if (heads.length > 0) remark(`Heads to note:\n${heads.map((head) => `  ${head}`).join('\n')}`);
}

function describeProblem({ chain, seq, id, problem }: Problem): string {
  const place = [chain === null ? [] : `chain ${chain}`, seq === null ? [] : `row ${seq}`, id === null ? [] : id].flat().join(', ');
  return place === '' ? problem : `${place}: ${problem}`;
}
