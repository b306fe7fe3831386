import { extname } from 'node:path';
import type { Isolation, Turn } from '../../isolation/isolation.ts';
import { unreadDocument } from '../../isolation/unread-document.ts';
import { CribError } from '../../model/crib-error.ts';
import type { ImportedDocument } from '../documents/imported-document.ts';
import type { PollProfile } from '../../model/poll-profile.ts';
import type { DiscoveredTool } from '../../model/tool.ts';
import type { ImportMessage, ImportWork, LoadAnswer } from './import-messages.ts';

export interface DocumentInput {
  text: string;
  /** The document's address; null if the document was pasted. */
  url: URL | null;
  /** The source's names, which tools of a UTCP manual may carry as a prefix. */
  names?: readonly string[];
  /** Replaces all servers in the document. */
  serverUrl: string | null;
  serverVariables: Record<string, string>;
  /** Prefixes of the addresses that the document may refer to. */
  externalRefs: readonly string[];
  load(url: URL, signal: AbortSignal): Promise<string>;
  /** [POLL-1] By tool name. */
  asyncPoll: Record<string, PollProfile>;
  isolation: Isolation;
  turn: Turn;
  timeLimitMs?: number;
  memoryLimitMb?: number;
}

// The source runs as TypeScript, the package as JavaScript; the program is beside this file in both.
const program = new URL(`./import-program${extname(import.meta.url)}`, import.meta.url);
/** More than `compileDocument` ever emits. */
const mostOutputBytes = 256 * 1024 * 1024;

/**
 * [OAS-1] [UTCP-1] Compiles an OpenAPI document or a UTCP manual into tools, in a separate process that is killed if the document takes too
 * much time or memory. Rejects with `VALIDATION_ERROR` if the document is neither of them, and with the signal's reason when aborted.
 */
export async function importDocument(input: DocumentInput): Promise<ImportedDocument> {
  const { isolation, turn, timeLimitMs = 60_000, memoryLimitMb = 1024 } = input;
  const ended = new AbortController();
  const stopped = AbortSignal.any([turn.signal, ended.signal]);
  const tools: DiscoveredTool[] = [];
  let rest: Omit<ImportedDocument, 'tools'> | undefined;
  let failure: CribError | undefined;

  async function loaded(url: string): Promise<LoadAnswer> {
    try {
      return { kind: 'loaded', url, text: await input.load(new URL(url), stopped) };
    } catch (error) {
      return { kind: 'not-loaded', url, failure: error instanceof Error ? error.message : String(error) };
    }
  }

  try {
    const outcome = await isolation.run({
      program,
      input: workOf(input),
      inputBytes: input.text.length,
      memoryLimitMb,
      mostOutputBytes,
      timeLimitMs,
      ...turn,
      onMessage(said, answer) {
        const message = said as ImportMessage;
        switch (message.kind) {
          case 'load':
            void loaded(message.url).then(answer);
            break;
          case 'tools':
            tools.push(...message.tools);
            break;
          case 'done': {
            const { title, version, report } = message;
            rest = { title, version, report };
            break;
          }
          case 'failed':
            failure = new CribError(message.code, message.message);
            break;
        }
      },
    });
    if (failure !== undefined) throw failure;
    if (outcome.how !== 'finished') throw unreadDocument(outcome, { timeLimitMs, memoryLimitMb });
    if (rest === undefined) throw new CribError('INTERNAL', 'The process that reads the document ended without a result');
    return { ...rest, tools };
  } finally {
    ended.abort();
  }
}

function workOf({ text, url, names = [], serverUrl, serverVariables, externalRefs, asyncPoll }: DocumentInput): ImportWork {
  return { kind: 'work', text, url: url?.href ?? null, names, serverUrl, serverVariables, externalRefs, asyncPoll };
}
