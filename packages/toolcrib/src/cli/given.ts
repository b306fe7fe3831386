import type { OptionTable } from '../model/option-table.ts';
import { UsageError } from '../model/usage-error.ts';
import type { GivenOptions } from '../sources/registration/command-line.ts';

/** The values from the command line and the environment. An option wins over its variable, the variable over a file, and the file over the default. */
export interface Given<Name extends string = string> extends GivenOptions<Name> {
  readonly operands: readonly string[];
  /** For options with a default. */
  required(name: Name): string;
  /** The same with the values of a file, which options and variables override. */
  beside(filed: ReadonlyMap<string, FiledOption>): Given<Name>;
}

/** The value of an option in a file, in the form of the command line. */
export interface FiledOption {
  /** What messages call it. */
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
  // Many tools set an empty variable to unset it.
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
