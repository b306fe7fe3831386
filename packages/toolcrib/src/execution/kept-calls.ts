import type { Answer, CallRecord, CallStatus } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import type { AnswerRow } from '../store/answers.ts';
import type { Store } from '../store/store.ts';
import { answerRow, keepForMs, requestHash } from './answer-row.ts';
import { unknownAnswer } from './answer.ts';
import type { AdmittedCall } from './admitted-call.ts';
import type { Executor } from './executor.ts';

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
  /** Waits for the answer of the owner's call, wherever it runs; undefined where no answer of it is kept. */
  join(principal: Principal, callId: string): Promise<Answer | undefined>;
  /**
   * Tells what is left of a server that was killed: its running calls now have an answer and a record that say so. A server that is
   * alone with its data may take all of them; where there are several, only those past their deadline. Those in `except` go on.
   */
  abandon(which?: { deadlineBefore?: number; except?: ReadonlySet<string> }): Promise<void>;
  /** The same for one call, and for a reason of its own. */
  giveUp(callId: string, reason: string): Promise<void>;
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
    // One that is still running was left to others, who will keep its answer.
    if (answer.status !== 'running') await store.answers.finish(answer.call_id, JSON.stringify(answer), Date.now() + keepForMs);
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

  async function endAsUnknown(kept: AnswerRow, reason: string): Promise<void> {
    // The record first: it is left alone where the call had one already, and an answer without a record must not be.
    if ((await store.calls.get(kept.call_id)) === undefined) await store.calls.append([unknownRecord(kept)]);
    await store.answers.finish(kept.call_id, JSON.stringify(unknownAnswer(kept, reason)), kept.expires_at);
  }

  return {
    async begin(admitted, { idempotencyKey }) {
      const { call } = admitted;
      const claim = await store.answers.claim(answerRow(call, admitted.args, idempotencyKey ?? null)).catch((error: unknown) => {
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
      if (existing.request_hash !== requestHash(call.tool, admitted.args)) {
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

    async join(principal, callId) {
      const kept = await store.answers.get(callId);
      return kept === undefined || kept.owner !== principal.key ? undefined : waitFor(kept);
    },

    async abandon({ except, ...which } = {}) {
      for (const kept of await store.answers.listRunning(which)) {
        if (except?.has(kept.call_id) === true) continue;
        await endAsUnknown(kept, lostWithServer);
      }
    },

    async giveUp(callId, reason) {
      const kept = await store.answers.get(callId);
      if (kept !== undefined) await endAsUnknown(kept, reason);
    },

    async drain() {
      await Promise.allSettled(runningHere.values());
    },
  };
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
