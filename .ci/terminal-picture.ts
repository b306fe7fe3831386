/**
 * Draws docs/first-minute.svg: what some commands of the README print at a terminal. With `npm start` in another terminal:
 * `npx node .ci/terminal-picture.ts`
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const commands = [
  `npx toolcrib call demo:price_order '{"items":[{"pizza":"funghi","count":2}]}'`,
  `npx toolcrib policy explain --as bob --tool builtin:hash`,
  `npx toolcrib calls -n 3`,
];
const [lineHeight, letterWidth, margin, columns] = [20, 8.4, 20, 118];
const colours: Record<string, string> = {
  '1': 'font-weight="bold"',
  '2': 'opacity="0.6"',
  '31': 'fill="#ff7b72"',
  '32': 'fill="#7ee787"',
  '33': 'fill="#e3b341"',
  '36': 'fill="#79c0ff"',
};

const lines = commands.flatMap((command) => printedBy(command).toSpliced(0, 0, '', `\u{1b}[32m$\u{1b}[39m ${command}`)).slice(1);
const [width, height] = [columns * letterWidth + 2 * margin, lines.length * lineHeight + 2 * margin];
const rows = lines.map((line, row) => `<text x="${margin}" y="${margin + (row + 0.75) * lineHeight}">${drawn(line)}</text>`);
writeFileSync(
  'docs/first-minute.svg',
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#e6edf3" xml:space="preserve">
<title>Three commands of the quick start and what they print</title>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${rows.join('\n')}
</svg>
`,
);

function printedBy(command: string): string[] {
  const { status, stdout, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8', env: { ...process.env, FORCE_COLOR: '1' } });
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stderr}`);
  return stdout.trimEnd().split('\n').flatMap(wrapped);
}

/** As a terminal does it, where a line is longer than the picture is wide; colours do not count. */
function wrapped(line: string): string[] {
  // oxlint-disable-next-line no-control-regex -- how a terminal is told to change its colours
  const pieces = line.match(/\u{1b}\[\d+m|[^\u{1b}]/gu) ?? [];
  const rows = [''];
  let used = 0;
  for (const piece of pieces) {
    const isLetter = !piece.startsWith('\u{1b}');
    if (isLetter && used === columns) {
      rows.push('');
      used = 0;
    }
    rows[rows.length - 1] += piece;
    if (isLetter) used += 1;
  }
  return rows;
}

function drawn(line: string): string {
  const styles = new Set<string>();
  // oxlint-disable-next-line no-control-regex -- how a terminal is told to change its colours
  return line.replaceAll(/(?:\u{1b}\[(\d+)m)?([^\u{1b}]*)/gu, (_all, code: string | undefined, text: string) => {
    if (code !== undefined && code in colours) styles.add(colours[code] ?? '');
    else if (code !== undefined) styles.clear();
    // Spaces that stay: viewers would make one of many.
    const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll(' ', '\u{a0}');
    return escaped === '' ? '' : `<tspan ${[...styles].join(' ')}>${escaped}</tspan>`;
  });
}
