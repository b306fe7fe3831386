import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import { CribError } from '../../model/crib-error.ts';
import type { Database } from '../database.ts';
import { noteMac, type ChainKeys } from '../audit/mac.ts';
import type { Queries, Tables } from '../tables.ts';

/** Up to where a journal was brought into the database. */
export type Position = Omit<Selectable<Tables['journals']>, 'noted_by'>;

/** A place in a journal; everything in earlier segments is before it. */
export interface Place {
  segment: number;
  offset: number;
}

export function isBefore(one: Place, other: Place): boolean {
  return one.segment < other.segment || (one.segment === other.segment && one.offset < other.offset);
}

/** Where nothing was ever written, there is no mac to go on from: the id of the journal stands for it. */
export function firstPosition(server: string): Position {
  const journal = randomUUID();
  return { server, journal, segment: 0, offset: 0, entry: 0, mac: journal.replaceAll('-', '').padEnd(43, '0') };
}

/** `isVouched` is false where somebody else has moved it. */
export async function readPosition(
  queries: Queries,
  keys: ChainKeys,
  server: string,
): Promise<{ position: Position; isVouched: boolean } | undefined> {
  const row = await queries.selectFrom('journals').selectAll().where('server', '=', server).executeTakeFirst();
  if (row === undefined) return undefined;
  const { noted_by, ...position } = row;
  const dot = noted_by.lastIndexOf('.');
  const key = keys.find(noted_by.slice(0, dot));
  return { position, isVouched: key !== undefined && positionMac(key, position) === noted_by.slice(dot + 1) };
}

/** Where an import goes on, of a journal that was begun. */
export async function knownPosition({
  database,
  keys,
  server,
}: {
  database: Database;
  keys: ChainKeys;
  server: string;
}): Promise<Position> {
  const noted = await readPosition(database.kysely, keys, server);
  if (noted === undefined) throw new CribError('CONFLICT', 'The database no longer knows the journal of this server: restart it.');
  return noted.position;
}

export async function writePosition(queries: Queries, { newest }: ChainKeys, position: Position): Promise<void> {
  const noted_by = `${newest.kid}.${positionMac(newest.key, position)}`;
  await queries
    .insertInto('journals')
    .values({ ...position, noted_by })
    .onConflict((conflict) => conflict.column('server').doUpdateSet({ ...position, noted_by }))
    .execute();
}

function positionMac(key: ChainKeys['newest']['key'], { server, journal, segment, offset, entry, mac }: Position): string {
  return noteMac(key, 'imported', [server, journal, segment, offset, entry, mac]);
}
