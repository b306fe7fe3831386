import { parseArgs } from 'node:util';
import { closest } from '../model/closest.ts';
import type { Command } from './command.ts';
import { createGiven, type Given } from './given.ts';
import { launcherOptions, type LauncherOptions } from './launcher-options.ts';
import { UsageError } from './usage-error.ts';

/** Every command has it, so no command lists it. */
export const helpOption = { help: 'Shows this help', short: 'h' } as const;

/** The arguments after a command's name, checked against its table; `'help'` where help was asked for. */
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
  try {
    return parseArgs({ args, options: table, strict: true, allowPositionals: true });
  } catch (cause) {
    throw explained(cause, Object.keys(options), wording);
  }
}

/** Node's messages say what is wrong at length; ours are one line, and guess what was meant. */
function explained(cause: unknown, own: string[], { launcher, strayOptions }: Wording): UsageError {
  const { code, message } = cause as { code?: string; message: string };
  const written = /'(?:-\w, )?(-[^' ]*)/.exec(message)?.[1] ?? '';
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const ofLauncher = [...(launcher?.switches ?? []), ...(launcher?.valued ?? [])];
    if (launcher !== undefined && ofLauncher.includes(written))
      return new UsageError(`${written} is an option of ${launcher.name}: write it directly behind ${launcher.name}. ${strayOptions}`, {
        cause,
      });
    const names = [...own, ...ofLauncher.map((name) => name.replace(/^-+/, ''))];
    const meant = closest(written.replace(/^-+/, ''), names);
    const guess = meant === undefined ? `There is no option ${written}` : `There is no option ${written}: did you mean --${meant}?`;
    if (strayOptions === undefined) return new UsageError(guess, { cause });
    return new UsageError(`${guess}${meant === undefined ? '.' : ''} ${strayOptions}`, { cause });
  }
  if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') {
    if (message.includes('does not take')) return new UsageError(`${written} is a switch and takes no value`, { cause });
    return new UsageError(`${written} needs a value (one that begins with a dash is written ${written}=-…)`, { cause });
  }
  return new UsageError(message.split('\n')[0] ?? message, { cause });
}
