import type { Answer } from '../model/call.ts';
import type { JsonObject } from '../model/json.ts';
import type { Store } from '../store/store.ts';
import { answerRow, keepForMs } from './answer-row.ts';
import { refusalRecord } from './call-record.ts';
import { answerWithoutContent, notBegunAnswer } from './lost-answer.ts';
import type { RunningCall } from './running-call.ts';

/** [EXEC-9] Writes answers where they can be fetched and repeated. */
export interface AnswerKeeper {
  /** Fails where the database does. */
  finish(answer: Answer): Promise<void>;
  /** Never fails: what cannot be written now is written as soon as the database is back. */
  keep(answer: Answer): Promise<void>;
  /** For a call that was refused before anything was done: it is recorded so, and its key is free again. Never fails either. */
  withdraw(call: RunningCall, args: JsonObject, error: unknown): Promise<void>;
  /** How many wait for the database. */
  readonly waiting: number;
  /** Tries once more to write what is left, for a server that stops. */
  flush(): Promise<void>;
}

interface AnswerKeeperInput {
  store: Pick<Store, 'answers' | 'calls'>;
  warn(message: string): void;
  /** How often a database that was away is tried again. */
  tryAgainMs?: number;
  /** What may wait in memory; of anything beyond it, only how the call ended. */
  mostBytes?: number;
}

interface Waiting {
  bytes: number;
  write(): Promise<void>;
}

export function createAnswerKeeper({ store, warn, tryAgainMs = 1000, mostBytes = 16 * 2 ** 20 }: AnswerKeeperInput): AnswerKeeper {
  const waiting = new Map<string, Waiting>();
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | undefined;

  async function finish(answer: Answer): Promise<void> {
    await store.answers.finish(answer.call_id, JSON.stringify(answer), Date.now() + keepForMs);
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
    finish,
    get waiting() {
      return waiting.size;
    },

    keep: (answer) =>
      writeOrWait(
        answer.call_id,
        (error) => {
          const bytes = JSON.stringify(answer).length;
          const fits = waitingBytes + bytes <= mostBytes;
          const kept = fits ? answer : answerWithoutContent(answer, { status: answer.status, error_code: answer.error?.code ?? null });
          warn(
            `The answer of call ${answer.call_id} could not be kept, and will be tried again${fits ? '' : ' in short'}: ${String(error)}`,
          );
          return { bytes: fits ? bytes : 0, write: () => finish(kept) };
        },
        () => finish(answer),
      ),

    withdraw(call, args, error) {
      const { callId, principal, tool, policyRevision } = call;
      const write = async () => {
        const body = JSON.stringify(notBegunAnswer({ call_id: callId, tool_id: tool.tool_id, tool: tool.name }));
        await store.calls.append([refusalRecord(principal, { asked: tool.name, error, found: call, revision: policyRevision })]);
        await store.answers.withdraw({ ...answerRow(call, args, null), body, expires_at: Date.now() + keepForMs });
      };
      return writeOrWait(callId, () => ({ bytes: 0, write }), write);
    },

    async flush() {
      clearTimeout(timer);
      await flush().catch((error: unknown) => warn(`The answers of ${waiting.size} calls could not be kept: ${String(error)}`));
    },
  };
}
