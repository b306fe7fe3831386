import { extname } from 'node:path';
import { importInProcess, type ImportLimits } from '../documents/import-in-process.ts';
import type { ImportedDocument } from '../documents/imported-document.ts';
import type { PollProfile } from '../../model/poll-profile.ts';
import type { ImportWork, LoadAnswer, LoadRequest } from './import-messages.ts';

export interface DocumentInput extends ImportLimits {
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
}

// The source runs as TypeScript, the package as JavaScript; the program is beside this file in both.
const program = new URL(`./import-program${extname(import.meta.url)}`, import.meta.url);

/**
 * [OAS-1] [UTCP-1] Compiles an OpenAPI document or a UTCP manual into tools, in a separate process that is killed if the document takes too
 * much time or memory. Rejects with `VALIDATION_ERROR` if the document is neither of them, and with the signal's reason when aborted.
 */
export async function importDocument(input: DocumentInput): Promise<ImportedDocument> {
  const { isolation, turn, timeLimitMs, memoryLimitMb } = input;
  const ended = new AbortController();
  const stopped = AbortSignal.any([turn.signal, ended.signal]);

  async function loaded(url: string): Promise<LoadAnswer> {
    try {
      return { kind: 'loaded', url, text: await input.load(new URL(url), stopped) };
    } catch (error) {
      return { kind: 'not-loaded', url, failure: error instanceof Error ? error.message : String(error) };
    }
  }

  try {
    return await importInProcess<Omit<ImportedDocument, 'tools'>>({
      isolation,
      turn,
      timeLimitMs,
      memoryLimitMb,
      program,
      work: workOf(input),
      onOther: (message, answer) => void loaded((message as LoadRequest).url).then(answer),
    });
  } finally {
    ended.abort();
  }
}

function workOf({ text, url, names = [], serverUrl, serverVariables, externalRefs, asyncPoll }: DocumentInput): ImportWork {
  return { kind: 'work', text, url: url?.href ?? null, names, serverUrl, serverVariables, externalRefs, asyncPoll };
}
