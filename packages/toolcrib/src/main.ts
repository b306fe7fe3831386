import { commandGroup, findCommand } from './cli/find-command.ts';
import { commandHelp, groupHelp, overview } from './cli/help.ts';
import { parseCommandLine } from './cli/parse-command-line.ts';
import { reportError, wantsJson } from './cli/report-error.ts';
import { print } from './cli/terminal.ts';
import { UsageError } from './model/usage-error.ts';
import { version } from './version.ts';

/** [CLI-1] Runs one command and resolves with the exit code: 0, 1 for a failure, 2 for a wrong command line. */
export async function main(args: string[]): Promise<number> {
  // The reader of a pipe may close it early: `toolcrib tools | head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  let help = 'toolcrib --help';
  try {
    const [first] = args;
    if (first === '--version' || first === '-v') {
      print(version);
      return 0;
    }
    const asked = askedHelp(args);
    if (asked !== undefined) {
      print(await helpOn(asked));
      return 0;
    }
    if (first?.startsWith('-')) throw new UsageError(`The command must come before the option ${first}`);
    if (commandGroup(first ?? '').length > 0) help = `toolcrib ${first} --help`;
    const { entry, rest } = findCommand(args);
    help = `toolcrib ${entry.name} --help`;
    const command = await entry.load();
    const given = parseCommandLine(command, rest, process.env);
    if (given === 'help') {
      print(commandHelp(entry, command));
      return 0;
    }
    return await command.run(given);
  } catch (error) {
    reportError(error, { json: wantsJson(args), help });
    return error instanceof UsageError ? 2 : 1;
  }
}

/** The words to show help on; undefined if none was asked for, or if the command itself handles `--help`. */
function askedHelp(args: readonly string[]): string[] | undefined {
  const [first, ...rest] = args;
  if (first === undefined || first === '--help' || first === '-h') return [];
  if (first === 'help') return rest.filter((word) => !word.startsWith('-'));
  const isAsked = rest[0] === '--help' || rest[0] === '-h';
  return isAsked && commandGroup(first).length > 0 ? [first] : undefined;
}

async function helpOn(words: string[]): Promise<string> {
  const [first] = words;
  if (first === undefined) return overview(version);
  if (words.length === 1 && commandGroup(first).length > 0) return groupHelp(first, commandGroup(first));
  const { entry } = findCommand(words);
  return commandHelp(entry, await entry.load());
}
