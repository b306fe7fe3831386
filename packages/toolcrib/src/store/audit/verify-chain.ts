import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql, type Selectable } from 'kysely';
import type { AuditHead, AuditProblem } from '../../model/audit.ts';
import type { Queries, Tables } from '../tables.ts';
import { storedValues, type StoredValue } from '../stored-values.ts';
import type { Ledger } from './ledgers.ts';
import { noteMac, rowMac, type ChainKeys } from './mac.ts';

type ChainRow = Selectable<Tables['chains']>;
type Mark = Pick<ChainRow, 'pruned_seq' | 'pruned_mac' | 'pruned_by'>;

interface ChainVerification {
  queries: Queries;
  keys: ChainKeys | undefined;
  ledger: Ledger;
  chain: ChainRow;
  /** Heads of it that were noted elsewhere. */
  heads: readonly AuditHead[];
  note(problem: AuditProblem): void;
}

const pageRows = 1000;

/** Walks one chain from its beginning, or from where retention has left it, and resolves with how many rows there were. */
export async function verifyChain({ queries, keys, ledger, chain, heads, note }: ChainVerification): Promise<number> {
  const key = keys?.find(chain.kid);
  const tell = (seq: number | null, problem: string, id: StoredValue = null) =>
    note({ chain: chain.id, seq, id: id === null ? null : String(id), problem });
  if (key === undefined) tell(null, `it cannot be checked: the key ${chain.kid} is not among the keys of this server`);
  const wanted = new Map<number, string[]>();
  let furthest = 0;
  for (const { seq, mac } of heads) {
    wanted.set(seq, [...(wanted.get(seq) ?? []), mac]);
    furthest = Math.max(furthest, seq);
  }

  let [last, previous] = [0, chain.mac];
  function skipTo(mark: Mark | undefined): void {
    if (mark === undefined || mark.pruned_seq <= last) return;
    if (!vouched(keys, chain.id, mark)) tell(mark.pruned_seq, 'the mark that retention leaves was changed');
    [last, previous] = [mark.pruned_seq, mark.pruned_mac];
    if (differs(wanted.get(last), previous)) tell(last, 'it is not the row that was noted as a head');
  }
  skipTo(chain);

  let count = 0;
  for (let after = Number.MIN_SAFE_INTEGER; ;) {
    const rows = await readPage(queries, ledger, chain.id, after);
    for (const row of rows) {
      const { seq, mac } = row;
      const id = row[ledger.id] ?? null;
      // Retention may have gone on since the page before.
      if (seq > last + 1) skipTo(row);
      if (seq <= last) {
        tell(seq, 'the row was put in', id);
        continue;
      }
      if (seq !== last + 1) tell(last + 1, seq === last + 2 ? 'the row was removed' : `the rows ${last + 1} to ${seq - 1} were removed`);
      else if (key !== undefined && rowMac(key, { ledger, chain: chain.id, seq, previous }, storedValues(ledger.columns, row)) !== mac) {
        tell(seq, 'the row was changed', id);
      }
      if (differs(wanted.get(seq), mac)) tell(seq, 'it is not the row that was noted as a head', id);
      [last, previous] = [seq, mac];
      count += 1;
    }
    if (rows.length < pageRows) break;
    after = rows.at(-1)?.seq ?? after;
    await nextTurn();
  }
  if (furthest > last) skipTo(await markOf(queries, chain.id));
  if (furthest > last) tell(last + 1, `the end was cut off: the rows up to ${furthest} were there`);
  for (const id of await withoutPlace(queries, ledger, chain.id)) tell(null, 'the row was put in, or its place was removed', id);
  return count;
}

type PageRow = Record<string, StoredValue> & { seq: number; mac: string } & Mark;

/**
 * One statement reads the rows and the mark of retention, so that they belong together: with a mark that was read later, retention could
 * have passed rows that are already here, and these would look put in.
 */
async function readPage(queries: Queries, ledger: Ledger, chain: number, after: number): Promise<PageRow[]> {
  const columns = sql.join(ledger.columns.map(([name]) => sql.ref(name)));
  const mark = sql`select pruned_seq, pruned_mac, pruned_by from chains where id = ${chain}`;
  const query = sql<PageRow>`
    select page.*, mark.* from (
      select ${columns}, seq, mac from ${sql.table(ledger.table)} where chain = ${chain} and seq > ${after} order by seq limit ${pageRows}
    ) page cross join (${mark}) mark order by seq`;
  return (await query.execute(queries)).rows;
}

async function markOf(queries: Queries, chain: number): Promise<Mark | undefined> {
  return queries.selectFrom('chains').select(['pruned_seq', 'pruned_mac', 'pruned_by']).where('id', '=', chain).executeTakeFirst();
}

async function withoutPlace(queries: Queries, ledger: Ledger, chain: number): Promise<StoredValue[]> {
  const id = sql.ref(ledger.id);
  const query = sql<{ id: StoredValue }>`
    select ${id} as id from ${sql.table(ledger.table)} where chain = ${chain} and seq is null limit 10`;
  return (await query.execute(queries)).rows.map((row) => row.id);
}

function vouched(keys: ChainKeys | undefined, chain: number, { pruned_seq, pruned_mac, pruned_by }: Mark): boolean {
  const dot = pruned_by.lastIndexOf('.');
  const key = keys?.find(pruned_by.slice(0, dot));
  return key !== undefined && noteMac(key, 'pruned', [chain, pruned_seq, pruned_mac]) === pruned_by.slice(dot + 1);
}

function differs(noted: readonly string[] | undefined, mac: string): boolean {
  return noted !== undefined && noted.some((one) => one !== mac);
}
