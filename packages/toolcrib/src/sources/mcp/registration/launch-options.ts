import type { CribError } from '../../../model/crib-error.ts';
import { invalid } from '../../registration/invalid.ts';
import { shorten } from './package-spec.ts';

/** What is known of the options a program takes before the name of what it runs. */
export interface KnownOptions {
  program: string;
  /** Options without a value, such as `-y`. */
  switches: ReadonlySet<string>;
  /** Options with a value, and a look at the value. A name that ends in `=` takes no value from the next argument. */
  valued: Readonly<Record<string, (value: string) => void>>;
  /** Whether the program reads `-iq` as `-i -q`, and `-eA=b` as `-e A=b`. */
  joinsLetters?: boolean;
  /** Options behind which everything belongs to what is run. */
  stops?: ReadonlySet<string>;
  /** Why an option is refused, where more can be said than that it is not known. */
  reasons?: Readonly<Record<string, string>>;
}

/**
 * Reads the options at the beginning of `args`; gives the index of the first argument that is none.
 *
 * Only options that are known to be harmless pass. A list of the harmful ones would always be one version of the program behind, and an
 * unknown one may swallow the argument after it, so that the program goes on reading options where we have stopped.
 */
export function readLaunchOptions(args: readonly string[], known: KnownOptions, field: string): number {
  let index = 0;
  while (index < args.length) {
    const option = args[index] ?? '';
    if (option === '--') return index + 1;
    if (!option.startsWith('-') || option === '-' || known.stops?.has(option)) return index;
    const next = args[index + 1];
    index += readOption(option, next, known, field);
  }
  return index;
}

/** How many arguments the option takes: itself, and its value where that stands behind it. */
function readOption(option: string, next: string | undefined, known: KnownOptions, field: string): 1 | 2 {
  if (known.switches.has(option.replace(/=true$/, ''))) return 1;
  const equals = option.startsWith('--') ? option.indexOf('=') : -1;
  const name = equals < 0 ? option : option.slice(0, equals);
  const valued = lookUp(known.valued, name) ?? (equals < 0 ? undefined : lookUp(known.valued, `${name}=`));
  if (valued !== undefined) {
    const value = equals < 0 ? next : option.slice(equals + 1);
    if (value === undefined || (equals < 0 && value.startsWith('-')))
      throw invalid(field, `${known.program} ${name} needs a value behind it`);
    valued(value);
    return equals < 0 ? 2 : 1;
  }
  if (known.joinsLetters === true && !option.startsWith('--')) {
    const rest = option.slice(2);
    const ofFirst = lookUp(known.valued, option.slice(0, 2));
    if (ofFirst !== undefined) {
      ofFirst(rest.replace(/^=/, ''));
      return 1;
    }
    if (Array.from(option.slice(1)).every((letter) => known.switches.has(`-${letter}`))) return 1;
  }
  throw refusedOption(name, known, field);
}

function refusedOption(name: string, { program, reasons = {} }: KnownOptions, field: string): CribError {
  const reason = lookUp(reasons, name) ?? 'it is not among the options that are known to be harmless';
  return invalid(field, `${program} ${shorten(name).slice(1, -1)} is refused: ${reason}`);
}

function lookUp<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
