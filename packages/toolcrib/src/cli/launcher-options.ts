import { parseArgs } from 'node:util';
import type { OptionTable } from '../model/option-table.ts';
import type { Launcher } from '../sources/registration/command-line.ts';

export interface LauncherOptions {
  /** The arguments without the launcher's. */
  args: string[];
  /** As they were written, with their values. */
  handedOn: string[];
  launcher: (Launcher & { name: string }) | undefined;
}

/** [CLI-1] Takes out the options between a launcher and the program, which are for the launcher: `uvx --from package program`. */
export function launcherOptions(args: string[], own: OptionTable, launchers: Readonly<Record<string, Launcher>>): LauncherOptions {
  const first = firstOperand(args, own);
  const name = first === undefined ? '' : (args[first] ?? '');
  const launcher = Object.hasOwn(launchers, name) ? launchers[name] : undefined;
  if (launcher === undefined || first === undefined) return { args, handedOn: [], launcher: undefined };
  const kept = args.slice(0, first + 1);
  const handedOn: string[] = [];
  let at = first + 1;
  while (at < args.length) {
    const word = args[at] ?? '';
    const theirs = wordsOf(word, launcher);
    const words = theirs || wordsOf(word, ownOptions(own));
    if (words === 0) break;
    (theirs > 0 ? handedOn : kept).push(...args.slice(at, at + words));
    at += words;
  }
  return { args: [...kept, ...args.slice(at)], handedOn, launcher: { ...launcher, name } };
}

/** The position of the first word that belongs to no option; undefined if there is none before `--`, after which nothing is an option. */
function firstOperand(args: string[], own: OptionTable): number | undefined {
  const options = Object.fromEntries(
    Object.entries(own).map(([name, { value, short }]) => {
      const type = value === undefined ? ('boolean' as const) : ('string' as const);
      return [name, short === undefined ? { type } : { type, short }];
    }),
  );
  const { tokens } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
  const token = tokens.find(({ kind }) => kind !== 'option');
  return token?.kind === 'positional' ? token.index : undefined;
}

/** How many words an option takes, with its value; 0 if it is not one of these. */
function wordsOf(word: string, { switches, valued }: Launcher): 0 | 1 | 2 {
  if (switches.includes(word)) return 1;
  if (valued.includes(word)) return 2;
  const [name = '', ...inline] = word.split('=');
  return inline.length > 0 && name.startsWith('--') && valued.includes(name) ? 1 : 0;
}

function ownOptions(own: OptionTable): Launcher {
  const written = (takesValue: boolean) =>
    Object.entries(own)
      .filter(([, { value }]) => (value !== undefined) === takesValue)
      .flatMap(([name, { short }]) => (short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`]));
  return { switches: written(false), valued: written(true) };
}
