import type { Given } from './given.ts';
import type { Launcher } from '../sources/registration/command-line.ts';
import type { OptionTable } from '../model/option-table.ts';

export interface Command<Name extends string = string> {
  /** What follows the command's name in its usage line, such as `<tool> [json]`. */
  operands: string;
  /** The least and the greatest number of operands. */
  operandCount: readonly [least: number, most: number];
  options: OptionTable;
  /** Advice about unknown options, for a command that passes arguments on. */
  strayOptions?: string;
  /** Programs that may be the first operand, and the options that are passed on to them if they directly follow. */
  launchers?: Readonly<Record<string, Launcher>>;
  /** Notes for the help. */
  notes?: readonly string[];
  examples: readonly string[];
  /** Returns the exit code. */
  run(given: Given<Name>): Promise<number>;
}

/** Lets a command ask only for options in its own table, and all commands be in one list. */
export function defineCommand<const Options extends OptionTable>(
  command: Omit<Command<keyof Options & string>, 'options'> & { options: Options },
): Command {
  return command;
}
