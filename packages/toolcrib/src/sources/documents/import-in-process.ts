import type { Isolation, Turn } from '../../isolation/isolation.ts';
import { unreadDocument } from '../../isolation/unread-document.ts';
import { CribError, type ErrorCode } from '../../model/crib-error.ts';
import type { DiscoveredTool } from '../../model/tool.ts';

/** The output of a process that imports a document. Tools come in batches, so that parsing them never blocks the gateway for long. */
export type ImportMessage<Result> =
  | { kind: 'tools'; tools: DiscoveredTool[] }
  | { kind: 'done'; result: Result }
  | { kind: 'failed'; code: ErrorCode; message: string };

export interface ImportLimits {
  isolation: Isolation;
  turn: Turn;
  timeLimitMs?: number | undefined;
  memoryLimitMb?: number | undefined;
}

interface ImportProcess extends ImportLimits {
  /** The program, which ends with `sendResult`. */
  program: URL;
  work: { text: string };
  /** Takes the program's other messages. */
  onOther?(message: unknown, answer: (message: unknown) => void): void;
}

/** More than any of the programs can produce. */
const mostOutputBytes = 256 * 1024 * 1024;

/**
 * Turns a document into tools, in a separate process that is killed if the document takes too much time or memory. Rejects with the
 * program's own error, or with the signal's reason if it is aborted.
 */
export async function importInProcess<Result>(input: ImportProcess): Promise<Result & { tools: DiscoveredTool[] }> {
  const { isolation, turn, program, work, onOther, timeLimitMs = 60_000, memoryLimitMb = 1024 } = input;
  const tools: DiscoveredTool[] = [];
  let result: Result | undefined;
  let failure: CribError | undefined;
  const outcome = await isolation.run({
    program,
    input: work,
    inputBytes: work.text.length,
    memoryLimitMb,
    mostOutputBytes,
    timeLimitMs,
    ...turn,
    onMessage(received, answer) {
      const message = received as ImportMessage<Result>;
      switch (message.kind) {
        case 'tools':
          tools.push(...message.tools);
          break;
        case 'done':
          ({ result } = message);
          break;
        case 'failed':
          failure = new CribError(message.code, message.message);
          break;
        default:
          onOther?.(message, answer);
      }
    },
  });
  if (failure !== undefined) throw failure;
  if (outcome.how !== 'finished') throw unreadDocument(outcome, { timeLimitMs, memoryLimitMb });
  if (result === undefined) throw new CribError('INTERNAL', 'The process that reads the document ended without a result');
  return { ...result, tools };
}
