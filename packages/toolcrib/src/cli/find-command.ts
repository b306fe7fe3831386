import { closest } from './closest.ts';
import { commands, type CommandEntry } from './commands.ts';
import { UsageError } from './usage-error.ts';

/** The command that the first words name, and the words after it. */
export function findCommand(args: readonly string[]): { entry: CommandEntry; rest: string[] } {
  for (const words of [2, 1]) {
    const entry = commands.find(({ name }) => name === args.slice(0, words).join(' '));
    if (entry) return { entry, rest: args.slice(words) };
  }
  const [first = '', second] = args;
  const family = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (family.length > 0) {
    const kinds = family.map(({ name }) => `\`toolcrib ${name}\``).join(', ');
    throw new UsageError(
      second === undefined || second.startsWith('-')
        ? `${first} what? There is ${kinds}`
        : `There is no \`${first} ${second}\`: there is ${kinds}`,
    );
  }
  const meant = closest(
    first,
    commands.map(({ name }) => name),
  );
  throw new UsageError(`There is no command ${JSON.stringify(first)}${meant === undefined ? '' : `: did you mean \`toolcrib ${meant}\`?`}`);
}
