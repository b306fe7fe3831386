import { hash } from 'node:crypto';
import { canonicalJson } from '../inventory/definition-hash.ts';
import type { Answer, CallRecord, CallStatus } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import type { AnswerRow } from '../store/answers.ts';
import type { Store } from '../store/store.ts';
import { unknownAnswer } from './answer.ts';
import type { AdmittedCall, Executor } from './executor.ts';

/** How long a kept answer can be fetched or repeated. */
const keepForMs = 24 * 3_600_000;
/** A call is given this much more than its own timeout before it counts as lost with the server that ran it. */
const graceMs = 5000;
/** How often another server's answer is looked for. */
const lookAgainMs = 250;

/** A call that should long have ended and left no answer went down with its server: nobody knows how far it came. */
const lostWithServer = 'The server stopped while this call ran: it may or may not have taken effect';

interface Begun {
  callId: string;
  status: CallStatus;
  answer: Promise<Answer>;
  /** True when an earlier call with the same Idempotency-Key answers this one. */
  repeated: boolean;
}

export interface KeptCalls {
  /** Runs an admitted call and keeps its answer; with a key already used, gives the first call's answer instead. */
  begin(admitted: AdmittedCall, options: { idempotencyKey?: string }): Promise<Begun>;
  /** The owner's kept answer: undefined where there is none, `answer: null` while it runs. */
  find(principal: Principal, callId: string): Promise<{ kept: AnswerRow; answer: Answer | null } | undefined>;
  /**
   * Tells what is left of a server that was killed: its running calls now have an answer and a record that say so. A server that is
   * alone with its data may take all of them; where there are several, only those past their deadline.
   */
  abandon(which?: { deadlineBefore?: number }): Promise<void>;
  /** Resolves when no kept call is running here any more. */
  drain(): Promise<void>;
}

interface KeptCallsInput {
  store: Store;
  executor: Executor;
  warn(message: string): void;
}

/** [EXEC-9] Calls whose answer outlives their request: made with `async`, or with an Idempotency-Key. */
export function createKeptCalls({ store, executor, warn }: KeptCallsInput): KeptCalls {
  const runningHere = new Map<string, Promise<Answer>>();
  const runningElsewhere = new Map<string, Promise<Answer>>();

  async function run(admitted: AdmittedCall): Promise<Answer> {
    const answer = await executor.run(admitted);
    await store.answers.finish(answer.call_id, JSON.stringify(answer), Date.now() + keepForMs);
    return answer;
  }

  async function lookFor(kept: AnswerRow): Promise<Answer> {
    for (let latest: AnswerRow | undefined = kept; latest !== undefined; latest = await store.answers.get(kept.call_id)) {
      const answer = answerOf(latest, Date.now());
      if (answer !== null) return answer;
      await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
    }
    throw new CribError('CONFLICT', 'The first call with this Idempotency-Key has been forgotten: use a new key');
  }

  /** However often a call is repeated while it runs elsewhere, its answer is looked for once. */
  function waitFor(kept: AnswerRow): Promise<Answer> {
    const { call_id: callId } = kept;
    const known = runningHere.get(callId) ?? runningElsewhere.get(callId);
    if (known !== undefined) return known;
    const found = lookFor(kept).finally(() => runningElsewhere.delete(callId));
    runningElsewhere.set(callId, found);
    return found;
  }

  return {
    async begin(admitted, { idempotencyKey }) {
      const { call } = admitted;
      const claim = await store.answers
        .claim({
          call_id: call.callId,
          owner: call.principal.key,
          idempotency_key: idempotencyKey ?? null,
          request_hash: requestHash(admitted),
          tool_id: call.tool.tool_id,
          tool: call.tool.name,
          deadline_at: call.startedAt + call.timeoutMs + graceMs,
          created_at: call.startedAt,
          expires_at: call.startedAt + call.timeoutMs + keepForMs,
          body: null,
        })
        .catch((error: unknown) => {
          executor.dismiss(admitted);
          throw error;
        });
      if (claim.claimed) {
        const answer = run(admitted);
        runningHere.set(call.callId, answer);
        answer
          .catch((error: unknown) => warn(`The answer of call ${call.callId} could not be kept: ${String(error)}`))
          .finally(() => runningHere.delete(call.callId));
        return { callId: call.callId, status: call.queued ? 'queued' : 'running', answer, repeated: false };
      }
      executor.dismiss(admitted);
      const { existing } = claim;
      if (existing.request_hash !== requestHash(admitted)) {
        throw new CribError('CONFLICT', 'This Idempotency-Key was used for another call: use a new key for a new call', {
          field: 'Idempotency-Key',
        });
      }
      const status = answerOf(existing, Date.now())?.status ?? 'running';
      return { callId: existing.call_id, status, answer: waitFor(existing), repeated: true };
    },

    async find(principal, callId) {
      const kept = await store.answers.get(callId);
      if (kept === undefined || kept.owner !== principal.key) return undefined;
      return { kept, answer: answerOf(kept, Date.now()) };
    },

    async abandon(which) {
      for (const kept of await store.answers.listRunning(which)) {
        // The record first: it is left alone where the call had one already, and an answer without a record must not be.
        if ((await store.calls.get(kept.call_id)) === undefined) await store.calls.append([unknownRecord(kept)]);
        await store.answers.finish(kept.call_id, JSON.stringify(unknownAnswer(kept, lostWithServer)), kept.expires_at);
      }
    },

    async drain() {
      await Promise.allSettled(runningHere.values());
    },
  };
}

function requestHash({ call, args }: AdmittedCall): string {
  // The same arguments in another order are the same request.
  return hash('sha256', `${call.tool.tool_id}\n${canonicalJson(args)}`, 'base64url');
}

function answerOf(kept: AnswerRow, now: number): Answer | null {
  if (kept.body !== null) return JSON.parse(kept.body) as Answer;
  return now <= kept.deadline_at ? null : unknownAnswer(kept, lostWithServer);
}

/** [SEC-4] The caller was promised an answer, so the record must know of the call, though not how it ended. */
function unknownRecord(kept: AnswerRow): CallRecord {
  const gap = kept.owner.indexOf(' ');
  return {
    call_id: kept.call_id,
    started_at: kept.created_at,
    duration_us: 0,
    issuer: kept.owner.slice(0, gap),
    subject: kept.owner.slice(gap + 1),
    client: null,
    tool_id: kept.tool_id,
    tool: kept.tool,
    source_id: null,
    definition_hash: null,
    policies: '',
    policy_revision: 0,
    status: 'unknown',
    error_code: 'SERVICE_UNAVAILABLE',
  };
}
