import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { callRecordSchema } from '../api.ts';
import { CribError } from '../model/crib-error.ts';
import { parseAnswer } from './parse-answer.ts';
import type { Administrator } from './source-client.ts';

// Looser than the contract: a newer server may say more than we know of, and --json shows it.
const { call_id, started_at, duration_us, subject, tool, user_name } = callRecordSchema.shape;
const code = z.string().nullable();
/** Missing in answers of earlier versions. */
const origin = z.string().nullish();
const callSchema = z.looseObject({
  call_id,
  started_at,
  duration_us,
  subject,
  tool,
  user_name,
  status: z.string(),
  error_code: code,
  error_origin: origin,
});
const listSchema = z.looseObject({ calls: z.array(callSchema), next_cursor: z.string().nullable(), follow_cursor: z.string() });
export type ShownCall = z.infer<typeof callSchema>;

type CallQuery = Record<string, string | undefined>;

const mostOnPage = 1000;
const pauseMs = 1000;

async function readPage({ client, token }: Administrator, query: CallQuery, signal?: AbortSignal) {
  return parseAnswer(listSchema, await client.json('GET', '/api/calls', { token, query, ...(signal && { signal }) }), client.url);
}

/** The newest matching calls, the newest last; `more` says whether there may be older ones. */
export async function listCalls(administrator: Administrator, query: CallQuery, limit: number) {
  const calls: ShownCall[] = [];
  let followCursor: string | undefined;
  for (let cursor: string | undefined; ;) {
    const wanted = Math.min(limit - calls.length, mostOnPage);
    const page = await readPage(administrator, { ...query, limit: String(wanted), cursor });
    calls.push(...page.calls);
    followCursor ??= page.follow_cursor;
    cursor = page.next_cursor ?? undefined;
    const more = cursor !== undefined;
    if (!more || calls.length >= limit) return { calls: calls.toReversed(), more, followCursor };
  }
}

interface Following {
  query: CallQuery;
  from: string;
  signal: AbortSignal;
  /** Called when the token has expired: gets another, or undefined if there is none. */
  renew(): Promise<string> | undefined;
  /** Called when the server cannot be reached. It is asked again. */
  onLost(error: CribError): void;
}

/** The matching calls, as they end, until the signal aborts. */
export async function* followCalls({ client, token }: Administrator, following: Following): AsyncGenerator<ShownCall[]> {
  const { query, signal } = following;
  let follow = following.from;
  let isLost = false;
  for (;;) {
    await delay(pauseMs, undefined, { signal });
    try {
      const page = await readPage({ client, token }, { ...query, follow, limit: String(mostOnPage) }, signal);
      isLost = false;
      follow = page.follow_cursor;
      if (page.calls.length > 0) yield page.calls;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CribError)) throw error;
      const renewed = error.code === 'UNAUTHENTICATED' ? following.renew() : undefined;
      if (renewed !== undefined) token = await renewed;
      else if (!['SERVICE_UNAVAILABLE', 'NETWORK_ERROR'].includes(error.code)) throw error;
      else if (!isLost) following.onLost(error);
      isLost ||= renewed === undefined;
    }
  }
}
