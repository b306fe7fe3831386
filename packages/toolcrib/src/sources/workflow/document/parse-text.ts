import { extname } from 'node:path';
import type { Isolation, Turn } from '../../../isolation/isolation.ts';
import { unreadDocument } from '../../../isolation/unread-document.ts';
import { CribError } from '../../../model/crib-error.ts';
import type { ParseOutcome } from './parse-program.ts';

const longestDocument = 1_000_000;
const limits = { timeLimitMs: 10_000, memoryLimitMb: 256, mostOutputBytes: 16_000_000 };

// The source runs as TypeScript, the package as JavaScript; the program is next to this file in both.
const program = new URL(`./parse-program${extname(import.meta.url)}`, import.meta.url);

/** Parses untrusted JSON or YAML in a separate process, which is killed if it exceeds its limits. Throws `VALIDATION_ERROR`. */
export async function parseText(text: string, isolation: Isolation, turn: Turn): Promise<{ value: unknown; warnings: string[] }> {
  if (text.length > longestDocument) throw wrong(`The document is longer than ${longestDocument} characters`);
  let parsed = { failure: 'The process that reads the document ended without a result' } as ParseOutcome;
  const onMessage = (message: unknown) => (parsed = message as ParseOutcome);
  const outcome = await isolation.run({ program, input: text, inputBytes: text.length, ...limits, ...turn, onMessage });
  if (outcome.how !== 'finished') throw unreadDocument(outcome, limits);
  if ('failure' in parsed) throw wrong(parsed.failure);
  return parsed;
}

function wrong(message: string): CribError {
  return new CribError('VALIDATION_ERROR', message);
}
