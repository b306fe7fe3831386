import type { OptionTable } from './option-table.ts';
import { UsageError } from './usage-error.ts';

/** What the command line and the environment gave. An option wins over its variable, and that over the default. */
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
}

type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

export function createGiven(input: { options: OptionTable; values: Values; operands: string[]; env: NodeJS.ProcessEnv }): Given {
  const { options, values, operands, env } = input;
  // An empty variable is how many tools say that it is not set.
  const variable = (name: string) => env[options[name]?.env ?? ''] || undefined;

  const given: Given = {
    operands,
    origin: (name) => (values[name] === undefined ? (variable(name) && options[name]?.env) || undefined : `--${name}`),
    text(name) {
      const value = values[name];
      const last = Array.isArray(value) ? value.at(-1) : value;
      return typeof last === 'string' ? last : (variable(name) ?? options[name]?.default);
    },
    required(name) {
      const value = given.text(name);
      if (value === undefined) throw new UsageError(`--${name} is needed`, { field: name });
      return value;
    },
    list(name) {
      const value = values[name];
      if (Array.isArray(value)) return value.filter((one) => typeof one === 'string');
      return (variable(name) ?? '')
        .split(',')
        .map((one) => one.trim())
        .filter(Boolean);
    },
    on: (name) => values[name] === true,
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
