import { extname } from 'node:path';
import type { Isolation, Turn } from '../../isolation/isolation.ts';
import { unreadDocument } from '../../isolation/unread-document.ts';
import { CribError } from '../../model/crib-error.ts';
import type { ImportReport } from '../../model/import-report.ts';
import type { DiscoveredTool } from '../../model/tool.ts';
import type { ImportMessage, ImportWork } from './schema/import-messages.ts';
import type { SelectableTypes } from './schema/selectable-types.ts';

interface SchemaInput extends ImportWork {
  isolation: Isolation;
  turn: Turn;
  timeLimitMs?: number;
  memoryLimitMb?: number;
}

export interface ImportedSchema {
  tools: DiscoveredTool[];
  /** Null if no tools were requested. */
  report: ImportReport | null;
  /** The types that a caller's selection is checked against; null if they are too large to keep. */
  types: SelectableTypes | null;
}

// The source runs as TypeScript, the package as JavaScript: the program has the same extension as this file.
const program = new URL(`./schema/import-program${extname(import.meta.url)}`, import.meta.url);
/** More than `compileSchema` and `selectableTypes` can produce. */
const mostOutputBytes = 256 * 1024 * 1024;

/**
 * Turns a schema into tools, in a separate process with limits on time and memory. Rejects with `VALIDATION_ERROR` if the text is not a
 * schema, and with the signal's reason if it is aborted.
 */
export async function importSchema({
  isolation,
  turn,
  timeLimitMs = 60_000,
  memoryLimitMb = 1024,
  ...work
}: SchemaInput): Promise<ImportedSchema> {
  const tools: DiscoveredTool[] = [];
  let rest: Omit<ImportedSchema, 'tools'> | undefined;
  let failure: CribError | undefined;
  const outcome = await isolation.run({
    program,
    input: work,
    inputBytes: work.text.length,
    memoryLimitMb,
    mostOutputBytes,
    timeLimitMs,
    ...turn,
    onMessage(received) {
      const message = received as ImportMessage;
      switch (message.kind) {
        case 'tools':
          tools.push(...message.tools);
          break;
        case 'done':
          rest = { report: message.report, types: message.types };
          break;
        case 'failed':
          failure = new CribError(message.code, message.message);
          break;
      }
    },
  });
  if (failure !== undefined) throw failure;
  if (outcome.how !== 'finished') throw unreadDocument(outcome, { timeLimitMs, memoryLimitMb });
  if (rest === undefined) throw new CribError('INTERNAL', 'The process that reads the schema ended without a result');
  return { ...rest, tools };
}
