import type { Answer } from '../model/call.ts';
import type { JsonObject } from '../model/json.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { Store } from '../store/store.ts';
import { answerRow, keepForMs } from './answer-row.ts';
import { refusalRecord } from './recorder.ts';
import { notBegunAnswer } from './lost-answer.ts';
import type { RunningCall } from './running-call.ts';
import { sealAnswer } from './sealed-answer.ts';

interface KeepOptions {
  /** Whether the Idempotency-Key of the call is free again. */
  freesKey?: boolean;
}

/** [EXEC-9] Writes answers where they can be fetched and repeated. */
export interface AnswerKeeper {
  /** For its owner. Fails where the database does. */
  finish(answer: Answer, owner: string, options?: KeepOptions): Promise<void>;
  /** Never fails: an answer that cannot be written now is written as soon as the database is back. */
  keep(answer: Answer, owner: string, options?: KeepOptions): Promise<void>;
  /** For a call that was refused before anything was done: it is recorded so, and its key is free again. Never fails either. */
  withdraw(call: RunningCall, args: JsonObject, error: unknown): Promise<void>;
  /** How many wait for the database. */
  readonly waiting: number;
  /** Tries once more to write the answers that are left, for a server that stops. */
  flush(): Promise<void>;
}

interface AnswerKeeperInput {
  store: Pick<Store, 'answers' | 'calls'>;
  keyRing: KeyRing;
  /** [EXEC-9] For the kept answers and artifacts of each principal, so that nobody can fill the disk. The oldest lose their content first. */
  bytesPerPrincipal: number;
  warn(message: string): void;
  /** How often a database that was away is tried again. */
  tryAgainMs?: number;
  /** How much may wait in memory; answers beyond it are kept without their content. */
  mostWaitingBytes?: number;
}

/** The kept answers of a principal are counted after each such part of their share, not with every call. */
const countedPart = 64;
const mostCounted = 10_000;

interface Waiting {
  bytes: number;
  write(): Promise<void>;
}

export function createAnswerKeeper(input: AnswerKeeperInput): AnswerKeeper {
  const { store, keyRing, bytesPerPrincipal, warn, tryAgainMs = 1000, mostWaitingBytes = 16 * 2 ** 20 } = input;
  const waiting = new Map<string, Waiting>();
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  /** How many bytes each principal has written since the last count. */
  const uncounted = new Map<string, number>();

  /** Empty where it is too large for anything else to be kept beside it. */
  function bodyOf(answer: Answer, owner: string): string {
    const sealed = sealAnswer(keyRing, answer, owner);
    return sealed.length > bytesPerPrincipal ? '' : sealed;
  }

  async function write(callId: string, body: string, owner: string, options?: KeepOptions): Promise<void> {
    await store.answers.finish(callId, body, Date.now() + keepForMs, options);
    const bytes = (uncounted.get(owner) ?? 0) + body.length;
    if (bytes <= bytesPerPrincipal / countedPart && uncounted.size < mostCounted) return void uncounted.set(owner, bytes);
    uncounted.delete(owner);
    await store.answers
      .trim(owner, bytesPerPrincipal)
      .catch((error: unknown) => warn(`Kept answers could not be counted: ${String(error)}`));
  }

  async function flush(): Promise<void> {
    for (const [callId, { bytes, write }] of waiting) {
      await write();
      waiting.delete(callId);
      waitingBytes -= bytes;
    }
  }

  function tryLater(): void {
    timer ??= setTimeout(() => {
      void flush()
        .catch(() => undefined)
        .then(() => {
          timer = undefined;
          if (waiting.size > 0) tryLater();
        });
    }, tryAgainMs).unref();
  }

  async function writeOrWait(callId: string, later: (error: unknown) => Waiting, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      const wait = later(error);
      waiting.set(callId, wait);
      waitingBytes += wait.bytes;
      tryLater();
    }
  }

  return {
    finish: (answer, owner, options) => write(answer.call_id, bodyOf(answer, owner), owner, options),
    get waiting() {
      return waiting.size;
    },

    keep(answer, owner, options) {
      const { call_id: callId } = answer;
      const body = bodyOf(answer, owner);
      const later = (error: unknown) => {
        const fits = waitingBytes + body.length <= mostWaitingBytes;
        warn(`The answer of call ${callId} could not be kept and will be retried${fits ? '' : ' without its content'}: ${String(error)}`);
        return { bytes: fits ? body.length : 0, write: () => write(callId, fits ? body : '', owner, options) };
      };
      return writeOrWait(callId, later, () => write(callId, body, owner, options));
    },

    withdraw(call, args, error) {
      const { callId, principal, tool, policyRevision } = call;
      const withdrawNow = async () => {
        const answer = notBegunAnswer({ call_id: callId, tool_id: tool.tool_id, tool: tool.name });
        const body = sealAnswer(keyRing, answer, principal.key);
        await store.calls.append([
          refusalRecord(principal, { asked: tool.name, error, found: call, revision: policyRevision, via: call.via }),
        ]);
        await store.answers.withdraw({ ...answerRow(call, args, null), body, expires_at: Date.now() + keepForMs });
      };
      return writeOrWait(callId, () => ({ bytes: 0, write: withdrawNow }), withdrawNow);
    },

    async flush() {
      clearTimeout(timer);
      await flush().catch((error: unknown) => warn(`The answers of ${waiting.size} calls could not be kept: ${String(error)}`));
    },
  };
}
