import type { Given } from './given.ts';
import type { Launcher } from './launcher-options.ts';
import type { OptionTable } from './option-table.ts';

export interface Command<Name extends string = string> {
  /** What follows the command's name in its usage line, such as `<tool> [json]`. */
  operands: string;
  /** How few and how many operands there may be. */
  operandCount: readonly [least: number, most: number];
  options: OptionTable;
  /** What to do with an option that is not the command's own, where it takes arguments for something else. */
  strayOptions?: string;
  /** Programs that may be the first operand, and the options that are handed on to them where they stand directly behind. */
  launchers?: Readonly<Record<string, Launcher>>;
  /** What the help says beside the options. */
  notes?: readonly string[];
  examples: readonly string[];
  /** Answers with the exit code. */
  run(given: Given<Name>): Promise<number>;
}

/** Holds the names a command asks for to those in its own table, and lets all commands stand in one list. */
export function defineCommand<const Options extends OptionTable>(
  command: Omit<Command<keyof Options & string>, 'options'> & { options: Options },
): Command {
  return command;
}
