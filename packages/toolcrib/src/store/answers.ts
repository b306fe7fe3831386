import { CribError } from '../model/crib-error.ts';
import { nameConflicts } from './name-conflicts.ts';
import type { Queries, Tables } from './tables.ts';
import { trimKept } from './trim-kept.ts';

/** An answer kept for later: of a call that runs on its own, or of one that came with an `Idempotency-Key` [EXEC-9]. */
export type AnswerRow = Tables['answers'];

export type Claim = { claimed: true } | { claimed: false; existing: AnswerRow };

export type Answers = ReturnType<typeof createAnswers>;

export function createAnswers(queries: Queries) {
  const select = queries.selectFrom('answers').selectAll();

  async function insert(row: AnswerRow): Promise<boolean> {
    const statement = queries
      .insertInto('answers')
      .values(row)
      .onConflict((conflict) => conflict.columns(['owner', 'idempotency_key']).where('idempotency_key', 'is not', null).doNothing());
    const { numInsertedOrUpdatedRows } = await nameConflicts(statement.executeTakeFirst());
    return numInsertedOrUpdatedRows === 1n;
  }

  function finishing(callId: string, body: string, expiresAt: number, freesKey: boolean) {
    const unfinished = queries.updateTable('answers').where('call_id', '=', callId).where('body', 'is', null);
    return unfinished.set({ ...sized(body), expires_at: expiresAt, ...(freesKey ? { idempotency_key: null } : {}) });
  }

  return {
    /** Of several calls with one key exactly one gets `claimed`, whichever server they reach; the others get what it has left so far. */
    async claim(answer: AnswerRow): Promise<Claim> {
      const { owner, idempotency_key: key, created_at } = answer;
      // Again when the one in the way has expired or is swept away between the two statements.
      for (let attempt = 0; attempt < 5; attempt++) {
        if (await insert(answer)) return { claimed: true };
        const existing = await select.where('owner', '=', owner).where('idempotency_key', '=', key).executeTakeFirst();
        if (existing !== undefined && existing.expires_at > created_at) return { claimed: false, existing };
        if (existing !== undefined) await queries.deleteFrom('answers').where('call_id', '=', existing.call_id).execute();
      }
      throw new CribError('CONFLICT', 'Several calls use this Idempotency-Key at the same moment. Send the call again.', {
        retryable: true,
      });
    },

    /** Says that a call is begun, and makes its place where it has none. False when it was finished before: it must not be begun then. */
    async begin(answer: AnswerRow): Promise<boolean> {
      const { deadline_at, expires_at } = answer;
      const { numInsertedOrUpdatedRows } = await queries
        .insertInto('answers')
        .values({ ...answer, begun: 1 })
        .onConflict((conflict) =>
          conflict.column('call_id').doUpdateSet({ begun: 1, deadline_at, expires_at }).where('answers.body', 'is', null),
        )
        .executeTakeFirst();
      return (numInsertedOrUpdatedRows ?? 0n) > 0n;
    },

    /** The first to finish a call wins; false when it was finished before, or is not there. Its key may be used again with `freesKey`. */
    async finish(callId: string, body: string, expiresAt: number, { freesKey = false } = {}): Promise<boolean> {
      const { numUpdatedRows } = await finishing(callId, body, expiresAt, freesKey).executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    /** The same for a call that was not begun, and that must not be from here on. */
    async finishUnbegun(callId: string, body: string, expiresAt: number, { freesKey }: { freesKey: boolean }): Promise<boolean> {
      const { numUpdatedRows } = await finishing(callId, body, expiresAt, freesKey).where('begun', '=', 0).executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    /** Finishes a call that was refused before anything was done, and gives its key free: sent again, it is a new call. */
    async withdraw(answer: AnswerRow): Promise<void> {
      const finished = { ...sized(answer.body ?? ''), expires_at: answer.expires_at, idempotency_key: null };
      await queries
        .insertInto('answers')
        .values({ ...answer, ...finished })
        .onConflict((conflict) => conflict.column('call_id').doUpdateSet(finished).where('answers.body', 'is', null))
        .execute();
    },

    async get(callId: string): Promise<AnswerRow | undefined> {
      return select.where('call_id', '=', callId).executeTakeFirst();
    },

    /**
     * Calls nobody has finished. A starting server that is alone with its data may take all of them for abandoned; where there are
     * several, only those past their deadline are: the others may be running elsewhere.
     */
    async listRunning({ deadlineBefore }: { deadlineBefore?: number } = {}): Promise<AnswerRow[]> {
      const running = select.where('body', 'is', null).orderBy('deadline_at');
      return (deadlineBefore === undefined ? running : running.where('deadline_at', '<', deadlineBefore)).execute();
    },

    /** Bounds what its owner has, artifacts too. */
    trim: (owner: string, mostBytes: number) => trimKept(queries, owner, mostBytes),

    /** Some of those that were kept before there were seals. */
    async listUnsealed(limit: number): Promise<AnswerRow[]> {
      return select.where('bytes', '<', 0).where('body', 'is not', null).limit(limit).execute();
    },

    /** Does nothing where another server has been at it. */
    async putSealed(callId: string, body: string): Promise<void> {
      await queries.updateTable('answers').set(sized(body)).where('call_id', '=', callId).where('bytes', '<', 0).execute();
    },

    async deleteExpired(now: number): Promise<number> {
      const { numDeletedRows } = await queries.deleteFrom('answers').where('expires_at', '<=', now).executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
}

/** A sealed body is of letters that take one byte each. */
function sized(body: string): { body: string; bytes: number } {
  return { body, bytes: body.length };
}
