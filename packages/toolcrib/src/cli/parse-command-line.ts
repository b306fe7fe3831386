import { parseArgs } from 'node:util';
import { closest } from '../model/closest.ts';
import type { Command } from './command.ts';
import { createGiven, type Given } from './given.ts';
import { launcherOptions, type LauncherOptions } from './launcher-options.ts';
import { UsageError } from '../model/usage-error.ts';

/** Every command has it, so no command lists it. */
export const helpOption = { help: 'Shows this help', short: 'h' } as const;

/** The arguments after a command's name, checked against its table; `'help'` if they ask for help. */
export function parseCommandLine(command: Command, written: string[], env: NodeJS.ProcessEnv): Given | 'help' {
  const options = { ...command.options, help: helpOption };
  const { args, handedOn, launcher } = launcherOptions(written, options, command.launchers ?? {});
  const { values, positionals } = parseStrictly(options, args, { launcher, strayOptions: command.strayOptions });
  if (values.help === true) return 'help';
  positionals.splice(1, 0, ...handedOn);
  for (const [name, value] of Object.entries(values)) {
    if (value === '' || (Array.isArray(value) && value.includes(''))) throw new UsageError(`--${name} needs a value`, { field: name });
  }
  const [least, most] = command.operandCount;
  if (positionals.length < least) throw new UsageError(`${command.operands.split(' ')[positionals.length]} is missing`);
  if (positionals.length > most) throw new UsageError(`${JSON.stringify(positionals[most])} is one argument too many`);
  return createGiven({ options: command.options, values, operands: positionals, env });
}

interface Wording {
  /** What an unknown option may have been meant for. */
  launcher: LauncherOptions['launcher'];
  strayOptions: string | undefined;
}

function parseStrictly(options: Command['options'], args: string[], wording: Wording) {
  const table = Object.fromEntries(
    Object.entries(options).map(([name, { value, short, many = false }]) => {
      const type = value === undefined ? ('boolean' as const) : ('string' as const);
      return [name, { type, multiple: many, ...(short === undefined ? {} : { short }) }];
    }),
  );
  // Not `strict`: its messages would have to be parsed to suggest what was meant.
  const { values, positionals, tokens } = parseArgs({ args, options: table, strict: false, allowPositionals: true, tokens: true });
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    if (!Object.hasOwn(options, name)) throw unknownOption(rawName, Object.keys(options), wording);
    if (table[name]?.type === 'boolean') {
      if (value !== undefined) throw new UsageError(`${rawName} is a switch and takes no value`);
    } else if (value === undefined || (!inlineValue && /^-./s.test(value)))
      throw new UsageError(`${rawName} needs a value (write one that starts with a dash as ${rawName}=-…)`);
  }
  return { values, positionals };
}

/** Suggests what was meant. */
function unknownOption(written: string, own: string[], { launcher, strayOptions }: Wording): UsageError {
  const ofLauncher = [...(launcher?.switches ?? []), ...(launcher?.valued ?? [])];
  if (launcher !== undefined && ofLauncher.includes(written))
    return new UsageError(`${written} is an option of ${launcher.name}: write it directly after ${launcher.name}. ${strayOptions}`);
  const names = [...own, ...ofLauncher.map((name) => name.replace(/^-+/, ''))];
  const meant = closest(written.replace(/^-+/, ''), names);
  const guess = meant === undefined ? `There is no option ${written}` : `There is no option ${written}: did you mean --${meant}?`;
  if (strayOptions === undefined) return new UsageError(guess);
  return new UsageError(`${guess}${meant === undefined ? '.' : ''} ${strayOptions}`);
}
