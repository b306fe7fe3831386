import { closest } from '../model/closest.ts';
import { commands, type CommandEntry } from './commands.ts';
import { UsageError } from '../model/usage-error.ts';

/** The commands of two words that start with this one: `secrets list`, `secrets set`, … */
export function commandGroup(word: string): CommandEntry[] {
  return commands.filter(({ name }) => name.startsWith(`${word} `));
}

/** The command that the first words name, and the words after it. */
export function findCommand(args: readonly string[]): { entry: CommandEntry; rest: string[] } {
  for (const words of [2, 1]) {
    const entry = commands.find(({ name }) => name === args.slice(0, words).join(' '));
    if (entry) return { entry, rest: args.slice(words) };
  }
  const [first = '', second] = args;
  const family = commandGroup(first);
  if (family.length > 0) throw new UsageError(unfinished(first, second, family));
  const meant = closest(
    first,
    commands.map(({ name }) => name),
  );
  throw new UsageError(`There is no command ${JSON.stringify(first)}${meant === undefined ? '' : `: did you mean \`toolcrib ${meant}\`?`}`);
}

function unfinished(first: string, second: string | undefined, family: readonly CommandEntry[]): string {
  const kinds = family.map(({ name }) => `\`toolcrib ${name}\``).join(', ');
  if (second === undefined || second.startsWith('-')) return `${first} needs another word: ${kinds}`;
  const meant = closest(
    second,
    family.map(({ name }) => name.slice(first.length + 1)),
  );
  const hint = meant === undefined ? `there is ${kinds}` : `did you mean \`toolcrib ${first} ${meant}\`?`;
  return `There is no \`${first} ${second}\`: ${hint}`;
}
