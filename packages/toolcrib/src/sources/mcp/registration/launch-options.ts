import type { CribError } from '../../../model/crib-error.ts';
import { invalid } from '../../registration/invalid.ts';
import { shorten } from './package-spec.ts';

/** The known options of a launcher such as npx, which come before the name of the package, image or script. */
export interface KnownOptions {
  program: string;
  /** Options without a value, such as `-y`. */
  switches: ReadonlySet<string>;
  /** Options with a value, each with a check of the value. A name that ends in `=` takes no value from the next argument. */
  valued: Readonly<Record<string, (value: string) => void>>;
  /** Whether the program reads `-iq` as `-i -q`, and `-eA=b` as `-e A=b`. */
  joinsLetters?: boolean;
  /** Options at which reading stops: from there on, everything belongs to the program that is launched. */
  stops?: ReadonlySet<string>;
  /** Why an option is refused, if there is more to say than that it is unknown. */
  reasons?: Readonly<Record<string, string>>;
}

/**
 * Reads the options at the beginning of `args`; returns the index of the first argument that is not an option.
 *
 * Only options known to be harmless pass. A list of harmful options would always be one version of the program behind. An unknown option
 * may also take the next argument as its value, so that the program goes on reading options where we have stopped.
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

/** How many arguments the option takes up: 2 if its value is the next argument, else 1. */
function readOption(option: string, next: string | undefined, known: KnownOptions, field: string): 1 | 2 {
  if (known.switches.has(option.replace(/=true$/, ''))) return 1;
  const equals = option.startsWith('--') ? option.indexOf('=') : -1;
  const name = equals < 0 ? option : option.slice(0, equals);
  const valued = lookUp(known.valued, name) ?? (equals < 0 ? undefined : lookUp(known.valued, `${name}=`));
  if (valued !== undefined) {
    const value = equals < 0 ? next : option.slice(equals + 1);
    if (value === undefined || (equals < 0 && value.startsWith('-')))
      throw invalid(field, `${known.program} ${name} needs a value after it`);
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
  const reason = lookUp(reasons, name) ?? 'it is not one of the options known to be harmless';
  return invalid(field, `${program} ${shorten(name).slice(1, -1)} is refused: ${reason}`);
}

function lookUp<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
