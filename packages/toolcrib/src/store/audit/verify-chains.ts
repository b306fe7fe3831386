import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql, type Selectable } from 'kysely';
import { formatHead, parseHead, type AuditHead, type AuditProblem, type LedgerVerdict } from '../../model/audit.ts';
import type { Queries, Tables } from '../tables.ts';
import { chainsWithRows } from './chains-with-rows.ts';
import type { Ledger } from './ledgers.ts';
import { noteMac, type ChainKeys } from './mac.ts';
import { latestHeads } from './open-chain.ts';
import { verifyChain } from './verify-chain.ts';

interface Verification {
  queries: Queries;
  keys: ChainKeys | undefined;
  ledgers: readonly Ledger[];
  expected: readonly AuditHead[];
}

type ChainRow = Selectable<Tables['chains']>;

/** More than this many say nothing more. */
const mostProblems = 100;
const pageRows = 1000;

/** [SEC-4] Reads every row of every chain. Rows written after it began may be left out. */
export async function verifyChains({ queries, keys, ledgers, expected }: Verification): Promise<LedgerVerdict[]> {
  const chains = await queries.selectFrom('chains').selectAll().orderBy('id').execute();
  const newest = await latestHeads(queries);
  const inList = checkList(chains, keys);
  const heads = Map.groupBy([...chains.flatMap(notedHeads), ...expected], ({ ledger, chain }) => `${ledger} ${chain}`);
  const verdicts: LedgerVerdict[] = [];
  for (const ledger of ledgers) {
    const own = chains.filter((chain) => chain.ledger === ledger.name);
    const listed = new Set(own.map(({ id }) => id));
    const problems: AuditProblem[] = [];
    const note = (problem: AuditProblem) => problems.length < mostProblems && problems.push(problem);
    for (const { ledger: of, ...problem } of inList) if (of === ledger.name) note(problem);
    let rows = 0;
    for (const chain of own) {
      const known = heads.get(`${ledger.name} ${chain.id}`) ?? [];
      rows += await verifyChain({ queries, keys, ledger, chain, heads: known, note });
    }
    for (const { chain, seq } of expected.filter((head) => head.ledger === ledger.name)) {
      if (!listed.has(chain)) note({ chain, seq, id: null, problem: 'the chain of an expected head is not there' });
    }
    for await (const chain of chainsWithRows(queries, ledger)) {
      if (!listed.has(chain)) await checkLate(queries, ledger, chain, note);
    }
    const unchained = await countUnchained(queries, ledger, own[0]?.opened_at, note);
    const shown = newest.filter((head) => head.ledger === ledger.name).map(formatHead);
    verdicts.push({ ledger: ledger.name, rows, chains: own.length, unchained, heads: shown, problems });
  }
  return verdicts;
}

/** The list of chains is a chain too. */
function checkList(chains: readonly ChainRow[], keys: ChainKeys | undefined): (AuditProblem & Pick<ChainRow, 'ledger'>)[] {
  const problems: (AuditProblem & Pick<ChainRow, 'ledger'>)[] = [];
  let [expected, previous] = [1, ''];
  for (const { id, ledger, kid, opened_at, heads, mac } of chains) {
    const note = (problem: string) => problems.push({ ledger, chain: id, seq: null, id: null, problem });
    const key = keys?.find(kid);
    if (id !== expected) note(id === expected + 1 ? `chain ${expected} was removed` : `the chains ${expected} to ${id - 1} were removed`);
    else if (key !== undefined && noteMac(key, 'chain', [id, ledger, kid, opened_at, heads, previous]) !== mac) {
      note('the entry of this chain was changed');
    }
    [expected, previous] = [id + 1, mac];
  }
  return problems;
}

function notedHeads({ heads }: ChainRow): AuditHead[] {
  try {
    return heads === '' ? [] : heads.split(' ').map(parseHead);
  } catch {
    // A change of it shows in the mac.
    return [];
  }
}

/** A chain that was opened since the list was read is no problem; one that is not on it now is. */
async function checkLate(queries: Queries, ledger: Ledger, chain: number, note: (problem: AuditProblem) => void): Promise<void> {
  const listed = await queries.selectFrom('chains').select('id').where('id', '=', chain).where('ledger', '=', ledger.name).execute();
  if (listed.length === 0) note({ chain, seq: null, id: null, problem: 'there are rows of a chain that was never opened, or was removed' });
}

/** Rows without a chain are older than the first one, or were put there by something else than a server with keys. */
async function countUnchained(
  queries: Queries,
  { table, id, time }: Ledger,
  firstOpenedAt: number | undefined,
  note: (problem: AuditProblem) => void,
): Promise<number> {
  let count = 0;
  for (let after = sql``; ;) {
    const query = sql<{ id: string | number; time: number }>`
      select ${sql.ref(id)} as id, ${sql.ref(time)} as time from ${sql.table(table)}
      where chain is null ${after} order by ${sql.ref(id)} limit ${pageRows}`;
    const { rows } = await query.execute(queries);
    for (const row of rows) {
      if (row.time < (firstOpenedAt ?? Number.POSITIVE_INFINITY)) continue;
      note({ chain: null, seq: null, id: String(row.id), problem: 'the row is in no chain, though it is younger than the first one' });
    }
    count += rows.length;
    if (rows.length < pageRows) return count;
    after = sql`and ${sql.ref(id)} > ${rows.at(-1)?.id}`;
    await nextTurn();
  }
}
