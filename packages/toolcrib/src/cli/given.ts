import type { OptionTable } from './option-table.ts';
import { UsageError } from './usage-error.ts';

/** What the command line and the environment gave. An option wins over its variable, that over a file, and that over the default. */
export interface Given<Name extends string = string> {
  readonly operands: readonly string[];
  /** Where a value comes from, as a message should name it: `--port` or `TOOLCRIB_PORT`; undefined where nothing was given. */
  origin(name: Name): string | undefined;
  text(name: Name): string | undefined;
  /** For options with a default. */
  required(name: Name): string;
  /** Every value of a repeatable option; a variable holds several with commas between them. */
  list(name: Name): string[];
  on(name: Name): boolean;
  number(name: Name, range: { least: number; most: number; whole?: boolean }): number;
  /** The same with what a file says, over which option and variable win. */
  beside(filed: ReadonlyMap<string, FiledOption>): Given<Name>;
}

/** What a file says of an option, in the words of the command line. */
export interface FiledOption {
  /** How messages call it. */
  origin: string;
  value: string | boolean | string[];
}

type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

interface GivenInput {
  options: OptionTable;
  values: Values;
  operands: string[];
  env: NodeJS.ProcessEnv;
  filed?: ReadonlyMap<string, FiledOption>;
}

export function createGiven(input: GivenInput): Given {
  const { options, values, operands, env, filed } = input;
  // An empty variable is how many tools say that it is not set.
  const variable = (name: string) => env[options[name]?.env ?? ''] || undefined;

  const given: Given = {
    operands,
    origin(name) {
      if (values[name] !== undefined) return `--${name}`;
      return variable(name) === undefined ? filed?.get(name)?.origin : options[name]?.env;
    },
    text(name) {
      const value = values[name];
      const last = Array.isArray(value) ? value.at(-1) : value;
      if (typeof last === 'string') return last;
      const inFile = filed?.get(name)?.value;
      return variable(name) ?? (typeof inFile === 'string' ? inFile : options[name]?.default);
    },
    required(name) {
      const value = given.text(name);
      if (value === undefined) throw new UsageError(`--${name} is needed`, { field: name });
      return value;
    },
    list(name) {
      const value = values[name];
      if (Array.isArray(value)) return value.filter((one) => typeof one === 'string');
      const inFile = filed?.get(name)?.value;
      if (variable(name) === undefined && Array.isArray(inFile)) return inFile;
      return (variable(name) ?? '')
        .split(',')
        .map((one) => one.trim())
        .filter(Boolean);
    },
    on: (name) => values[name] === true || filed?.get(name)?.value === true,
    beside: (further) => createGiven({ ...input, filed: further }),
    number(name, { least, most, whole = true }) {
      const text = given.required(name).trim();
      const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
      if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
      const kind = whole ? 'a whole number' : 'a number';
      throw new UsageError(`${given.origin(name)} must be ${kind} from ${least} to ${most}, not ${JSON.stringify(text)}`, { field: name });
    },
  };
  return given;
}
