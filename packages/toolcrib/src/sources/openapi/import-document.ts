import { extname } from 'node:path';
import type { Isolation, Turn } from '../../isolation/isolation.ts';
import { unreadDocument } from '../../isolation/unread-document.ts';
import { CribError } from '../../model/crib-error.ts';
import type { ImportReport } from '../../model/import-report.ts';
import type { PollProfile } from '../../model/poll-profile.ts';
import type { DiscoveredTool } from '../../model/tool.ts';
import type { ImportMessage, ImportWork, LoadAnswer } from './document/import-messages.ts';

export interface DocumentInput {
  text: string;
  /** Where it came from; null where it was pasted. */
  url: URL | null;
  /** What the source is called: the tools of a UTCP manual may have that before their own names. */
  names?: readonly string[];
  /** Stands in for all servers that the document names. */
  serverUrl: string | null;
  serverVariables: Record<string, string>;
  /** Beginnings of the addresses that the document may refer to. */
  externalRefs: readonly string[];
  load(url: URL, signal: AbortSignal): Promise<string>;
  /** [POLL-1] By the name of the tool. */
  asyncPoll: Record<string, PollProfile>;
  isolation: Isolation;
  turn: Turn;
  timeLimitMs?: number;
  memoryLimitMb?: number;
}

export interface ImportedDocument {
  title: string;
  version: string;
  tools: DiscoveredTool[];
  report: ImportReport;
}

// The source runs as TypeScript, the package as JavaScript; the program stands beside this one in both.
const program = new URL(`./document/import-program${extname(import.meta.url)}`, import.meta.url);
/** More than all that `compileDocument` lets through. */
const mostOutputBytes = 256 * 1024 * 1024;

/**
 * [OAS-1] [UTCP-1] Makes tools of an OpenAPI document or a UTCP manual, in a process of its own that is ended where a document takes too much. Rejects with
 * `VALIDATION_ERROR` where it is none, and with the signal's reason.
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
    if (rest === undefined) throw new CribError('INTERNAL', 'The process that reads the document ended without a word');
    return { ...rest, tools };
  } finally {
    ended.abort();
  }
}

function workOf({ text, url, names = [], serverUrl, serverVariables, externalRefs, asyncPoll }: DocumentInput): ImportWork {
  return { kind: 'work', text, url: url?.href ?? null, names, serverUrl, serverVariables, externalRefs, asyncPoll };
}
