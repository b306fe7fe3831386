/** One option of a command: what `parseArgs` needs, what the help says, and where else its value may come from. */
export interface OptionSpec {
  /** What stands for the value in the help; an option without one is a switch. */
  value?: string;
  help: string;
  short?: string;
  /** May be given several times. */
  many?: boolean;
  /** The environment variable that is read where the option is not given. */
  env?: string;
  default?: string;
}

export type OptionTable = Readonly<Record<string, OptionSpec>>;
