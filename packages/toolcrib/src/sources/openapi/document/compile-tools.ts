import type { PollProfile } from '../../../model/poll-profile.ts';
import type { DiscoveredTool } from '../../../model/tool.ts';
import type { ImportNotes } from '../../documents/import-notes.ts';
import { cut } from '../../documents/node.ts';
import type { ToolTally } from './tool-tally.ts';
import { Unusable } from '../../documents/unusable.ts';

/** An operation of a document, or a tool of a manual. */
interface Compilable {
  name: string;
  /** The label in the notes. */
  operation: string;
  /** Throws `Unusable` with the reason if there can be no such tool. */
  compile(poll: PollProfile | null): DiscoveredTool;
}

interface CompileToolsInput {
  asyncPoll: Record<string, PollProfile>;
  tally: ToolTally;
  notes: ImportNotes;
}

/** Compiles each tool separately: an unusable one is skipped with the reason, and the others are not affected. */
export function compileTools(found: readonly Compilable[], { asyncPoll, tally, notes }: CompileToolsInput): void {
  for (const { name, operation, compile } of found) {
    notes.begin(operation);
    try {
      tally.check(name);
      tally.add(compile(Object.hasOwn(asyncPoll, name) ? (asyncPoll[name] ?? null) : null));
    } catch (error) {
      notes.skip({ operation, reason: reasonOf(error) });
    }
  }
  notes.begin();
  for (const name of Object.keys(asyncPoll)) {
    if (!tally.has(name)) notes.warn(`async_poll names ${cut(name, 200)}, but there is no tool of that name`);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Unusable) return error.message;
  if (error instanceof RangeError) return 'The schemas refer to each other in a chain that is too long';
  throw error;
}
