import type { OptionTable } from '../../model/option-table.ts';

/** The values of the options, from the command line or the environment. */
export interface GivenOptions<Option extends string = string> {
  /** Where a value comes from, as a message should name it: `--port` or `TOOLCRIB_PORT`; undefined if no value was given. */
  origin(option: Option): string | undefined;
  text(option: Option): string | undefined;
  /** Every value of a repeatable option. */
  list(option: Option): string[];
  on(option: Option): boolean;
  number(option: Option, range: { least: number; most: number; whole?: boolean }): number;
}

/** The first argument of `toolcrib add` that is not an option. */
export interface Operand {
  readonly written: string;
  /** Undefined if the operand is not an http(s) address. */
  readonly address: URL | undefined;
  /** The content of the file of this name, read at the first call; throws `UsageError` if there is no such file. */
  text(): string;
}

/** The arguments and options of `toolcrib add`. */
export interface AddRequest<Option extends string = string> {
  readonly given: GivenOptions<Option>;
  /** Undefined if there are only options. */
  readonly operand: Operand | undefined;
  /** The arguments after the operand. */
  readonly rest: readonly string[];
  /** The variables of --env and --secret, with their values. */
  readonly variables: Readonly<Record<string, string>>;
  /** Whether the server runs on this machine, so that it can use local paths. */
  readonly serverIsHere: boolean;
}

/** How surely an operand belongs to a kind of source. The surest kind gets the operand. */
export type Certainty = 'certain' | 'likely' | 'possible';

/** Options of a program that starts other programs, as they are written: `--from`, `-p`. */
export interface Launcher {
  switches: readonly string[];
  valued: readonly string[];
}

/** A definition as the API shows it. A newer server may show other fields, so check each field before use. */
export type ShownDefinition = Readonly<Record<string, unknown>>;

/** The part of the command line that one kind of source adds, most of it to `toolcrib add`. */
export interface CommandLine<Option extends string = string> {
  /** The name for its sources in messages: `MCP servers`. */
  noun: string;
  /** The possible operands for the usage line: `npx package`. */
  operands: readonly string[];
  /** Its options, beside those of every source. An option that several kinds share is the same object in each table. */
  options: OptionTable;
  /** Options that select this kind, whatever the operand looks like. */
  chosenBy: readonly Option[];
  /** For a kind that is described by documents: their name, their file names, and the option that marks the operand as such a document. */
  document?: { name: string; files: RegExp; option: Option };
  /** Programs that may be the operand, and the options that are passed on to them if they directly follow. */
  launchers?: Readonly<Record<string, Launcher>>;
  /** Notes for the help. */
  notes: readonly string[];
  examples: readonly string[];
  /** Undefined if the operand cannot be one of its sources. */
  recognise(operand: Operand): Certainty | undefined;
  /** The registration form, and a default name. Throws `UsageError`. */
  register(request: AddRequest<Option>): { name: string; form: object };
  /** The option that sets a missing value, such as `--setting NAME=…`; undefined if there is none. */
  optionFor?(field: string, definition: ShownDefinition): string | undefined;
  /** Sentences about what would be started or connected to; `namespace` is that of the source. */
  describePreview?(definition: ShownDefinition, namespace: string): string[];
  /** The rows of `toolcrib sources show` that only this kind has. */
  describe?(definition: ShownDefinition): ShownRow[];
}

export type ShownRow = [label: string, value: string | undefined];

/** Checks by type that a kind only reads options of its own table, and lets all kinds be in one list. */
export function defineCommandLine<const Options extends OptionTable>(
  commandLine: Omit<CommandLine<keyof Options & string>, 'options'> & { options: Options },
): CommandLine {
  return commandLine;
}
