import type { CommandLine } from '../sources/registration/command-line.ts';
import { sourceTypes } from '../sources/registry.ts';

/** Each kind of source that `toolcrib add` can add, in the order of the help. */
export const kinds: readonly CommandLine[] = sourceTypes.flatMap(({ commandLine }) => commandLine ?? []);

/** Undefined for a kind that cannot be added, or that only a newer server knows. */
export function kindOf(sourceType: string): CommandLine | undefined {
  return sourceTypes.find(({ name }) => name === sourceType)?.commandLine ?? undefined;
}
