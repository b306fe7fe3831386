import { findCommand } from './cli/find-command.ts';
import { commandHelp, overview } from './cli/help.ts';
import { parseCommandLine } from './cli/parse-command-line.ts';
import { complain, print } from './cli/terminal.ts';
import { UsageError } from './cli/usage-error.ts';
import { version } from './version.ts';
import { CribError } from './model/crib-error.ts';

/** [CLI-1] Runs one command; answers with the exit code: 0, 1 for a failure, 2 for a wrong command line. */
export async function main(args: string[]): Promise<number> {
  // Whoever reads our output may have enough of it: `toolcrib tools | head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  let help = 'toolcrib --help';
  try {
    const [first] = args;
    if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
      print(overview(version));
      return 0;
    }
    if (first === '--version' || first === '-v') {
      print(version);
      return 0;
    }
    if (first.startsWith('-')) throw new UsageError(`The command comes first: there is no option ${first} before it`);
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
    if (error instanceof UsageError) {
      complain(`${error.message.replace(/[.]$/, '')}. See \`${help}\`.`.replace('?.', '?'));
      return 2;
    }
    if (error instanceof CribError) complain(error.message);
    // Anything else is a fault of ours, and where it happened is what its report needs.
    else complain(`Something failed inside Toolcrib: ${error instanceof Error ? error.stack : String(error)}`);
    return 1;
  }
}
