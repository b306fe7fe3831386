/** One option of a command: what `parseArgs` needs, its help, and where else its value may come from. */
export interface OptionSpec {
  /** The placeholder for the value in the help; an option without one is a switch. */
  value?: string;
  help: string;
  short?: string;
  /** May be given several times. */
  many?: boolean;
  /** The environment variable that is read if the option is not given. */
  env?: string;
  /** What the variable may hold, if that is not the same as the option. */
  envHelp?: string;
  default?: string;
}

export type OptionTable = Readonly<Record<string, OptionSpec>>;
