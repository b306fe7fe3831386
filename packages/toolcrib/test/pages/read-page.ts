import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const workspace = join(import.meta.dirname, '..', '..', '..', '..');

/** Every page that tells people what to type. */
export const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'bench/README.md',
  ...pagesIn('docs'),
  ...readmesIn('packages'),
  ...readmesIn('examples'),
];

function pagesIn(folder: string): string[] {
  const names = readdirSync(join(workspace, folder)).filter((name) => name.endsWith('.md'));
  return names.map((name) => `${folder}/${name}`);
}

function readmesIn(folder: string): string[] {
  const inside = readdirSync(join(workspace, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return inside.map(({ name }) => `${folder}/${name}`).flatMap((path) => pagesIn(path).filter((page) => page.endsWith('/README.md')));
}

/** What stands between two fences, and the lines of both. */
export interface Block {
  line: number;
  end: number;
  /** What stands behind the fence: `sh`, `sh background`, `text`, `json` … */
  kind: string;
  text: string;
}

export function readBlocks(page: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const [index, line] of readFileSync(join(workspace, page), 'utf8').split('\n').entries()) {
    if (!line.startsWith('```')) {
      if (open !== undefined) open.text += `${line}\n`;
      continue;
    }
    if (open !== undefined) blocks.push({ ...open, end: index + 1 });
    open = open === undefined ? { line: index + 1, end: 0, kind: line.slice(3), text: '' } : undefined;
  }
  return blocks;
}

/** The commands of a block, one after another; bash itself says where one ends that goes on over several lines. */
export function commandsIn(text: string): string[] {
  const commands: string[] = [];
  let command = '';
  for (const line of text.split('\n')) {
    command = command === '' ? line : `${command}\n${line}`;
    if (line.endsWith('\\') || spawnSync('bash', ['-n', '-c', command]).status !== 0) continue;
    if (!/^\s*(#.*)?$/.test(command)) commands.push(command);
    command = '';
  }
  if (command.trim() !== '') throw new Error(`This command does not end: ${command}`);
  return commands;
}
