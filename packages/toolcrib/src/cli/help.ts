import type { Command } from './command.ts';
import { commands, type CommandEntry } from './commands.ts';
import type { OptionSpec } from '../model/option-table.ts';
import { helpOption } from './parse-command-line.ts';
import { lineWidth, paint } from './terminal.ts';
import { wrap } from '../text/wrap.ts';

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
      ['-h, --help', 'Shows this help; after a command, the help for that command, like `toolcrib help <command>`'],
      ['-v, --version', 'Prints the version'],
    ]),
    '',
    'Start with `toolcrib serve`: it needs nothing else and prints a first call.',
  ].join('\n');
}

/** What `toolcrib secrets --help` prints: the commands that start with that word. */
export function groupHelp(word: string, group: readonly CommandEntry[]): string {
  return [
    heading('Usage'),
    `  toolcrib ${word} <command> [options]`,
    '',
    heading('Commands'),
    ...wrapLast(group.map(({ name, summary }) => [name, summary])),
    '',
    `\`toolcrib ${word} <command> --help\` shows the options of one.`,
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
  const beside = [variableText(spec), spec.default === undefined ? undefined : `default ${spec.default}`].filter(
    (one) => one !== undefined,
  );
  return beside.length === 0 ? spec.help : `${spec.help} (${beside.join('; ')})`;
}

function variableText({ env, envHelp, many }: OptionSpec): string | undefined {
  if (env === undefined || (envHelp === undefined && !many)) return env;
  return `${env}: ${envHelp ?? 'separated by commas'}`;
}

/** Long texts continue on the next line instead of being cut. */
function wrapLast(rows: string[][]): string[] {
  // At a narrow terminal a long form gets a line of its own, so that it does not narrow all texts.
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

/** Limited also without a terminal, so that lines stay readable. */
function widest(): number {
  return Math.min(lineWidth(), 120);
}

/** Of a note such as `  show      everything about it`: its second column. */
function hangingIndent(note: string): number {
  return /^ {2,}\S.*?\S {2,}/.exec(note)?.[0].length ?? 0;
}

/** Examples are pasted, so a long one continues on the next line as in a shell. */
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
