import type { Command } from './command.ts';
import { commands, type CommandEntry } from './commands.ts';
import type { OptionSpec } from './option-table.ts';
import { helpOption } from './parse-command-line.ts';
import { lineWidth, paint } from './terminal.ts';

/** [CLI-1] What `toolcrib --help` prints. */
export function overview(version: string): string {
  return [
    `Toolcrib ${version}: a tool gateway for AI agents`,
    '',
    heading('Usage'),
    '  toolcrib <command> [options]',
    '',
    heading('Commands'),
    ...wrapLast(commands.map(({ name, summary }) => [name, summary])),
    '',
    heading('Options'),
    ...wrapLast([
      ['-h, --help', 'Shows this help; after a command, the help of that command, as `toolcrib help <command>` does'],
      ['-v, --version', 'Prints the version'],
    ]),
    '',
    'Start with `toolcrib serve`: it needs nothing else and prints a first call.',
  ].join('\n');
}

/** What `toolcrib secrets --help` prints: the commands that begin so. */
export function groupHelp(word: string, group: readonly CommandEntry[]): string {
  return [
    heading('Usage'),
    `  toolcrib ${word} <command> [options]`,
    '',
    heading('Commands'),
    ...wrapLast(group.map(({ name, summary }) => [name, summary])),
    '',
    `\`toolcrib ${word} <command> --help\` has the options of one.`,
  ].join('\n');
}

export function commandHelp(entry: CommandEntry, command: Command): string {
  const rows = Object.entries({ ...command.options, help: helpOption }).map(([name, spec]) => [optionForm(name, spec), optionText(spec)]);
  return [
    entry.summary,
    '',
    heading('Usage'),
    ...wrap(`  toolcrib ${[entry.name, command.operands, '[options]'].filter(Boolean).join(' ')}`, widest(), 4),
    ...section(
      'Notes',
      (command.notes ?? []).flatMap((note) => wrap(note, widest() - 2, hangingIndent(note))),
    ),
    '',
    heading('Options'),
    ...wrapLast(rows),
    ...section('Examples', command.examples.flatMap(continued)),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', heading(title), ...lines.map((line) => `  ${line}`)];
}

function optionForm(name: string, { value, short, many }: OptionSpec): string {
  return `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}${many ? ' …' : ''}`;
}

function optionText(spec: OptionSpec): string {
  const beside = [spec.env, spec.default === undefined ? undefined : `default ${spec.default}`].filter((one) => one !== undefined);
  return beside.length === 0 ? spec.help : `${spec.help} (${beside.join('; ')})`;
}

/** Help must be readable whole, so long texts go on in the next line instead of being cut. */
function wrapLast(rows: string[][]): string[] {
  // At a narrow terminal a long form has a line of its own, so that it takes no room from all texts.
  const most = widest() < 100 ? 28 : Infinity;
  const first = Math.max(...rows.map(([form = '']) => form.length).filter((length) => length <= most));
  const room = Math.max(30, widest() - first - 4);
  return rows.flatMap(([form = '', text = '']) => {
    const lines = wrap(text, room);
    const cells =
      form.length > first ? [[form, ''], ...lines.map((line) => ['', line])] : lines.map((line, index) => [index === 0 ? form : '', line]);
    return cells.map(([left = '', line = '']) => `  ${paint('bold', left.padEnd(first))}  ${line}`.trimEnd());
  });
}

/** Also where there is no terminal, lines are no longer than people like to read. */
function widest(): number {
  return Math.min(lineWidth(), 120);
}

function wrap(text: string, width: number, indent = 0): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(line === undefined ? word : `${' '.repeat(indent)}${word}`);
  }
  return lines;
}

/** Of a note such as `  show      everything about it`: its second column. */
function hangingIndent(note: string): number {
  return /^ {2,}\S.*?\S {2,}/.exec(note)?.[0].length ?? 0;
}

/** An example is pasted, so it goes on in the next line as a shell takes it. */
function continued(example: string): string[] {
  const words = example.split(/ (?=--|-- |[<>] )/);
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    // Room for the indent and for ` \`.
    if (line !== undefined && line.length + 1 + word.length <= lineWidth() - 4) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(line === undefined ? word : `  ${word}`);
  }
  return lines.map((line, index) => (index === lines.length - 1 ? line : `${line} \\`));
}

function heading(text: string): string {
  return paint('underline', text);
}
