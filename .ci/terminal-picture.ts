/**
 * Draws docs/first-minute.svg: the output of four commands at a terminal. Run `npm start` on a fresh data folder in another terminal, then
 * `npx node .ci/terminal-picture.ts`.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const commands = [
  `npx toolcrib call pizzeria:place_order --arg 'body={"pizza":"funghi"}'  # as alice`,
  `npx toolcrib call pizzeria:list_orders --as bob  # bob sees his own orders only`,
  `npx toolcrib policy explain --who --tool pizzeria:place_order  # who may, and why`,
  `npx toolcrib calls -n 2  # who called what`,
];
// As wide as GitHub shows a README, so that the text is not scaled down.
const [lineHeight, letterWidth, margin, titleBar, columns] = [18, 8.4, 24, 32, 90];
const colours: Record<string, string> = {
  '1': 'font-weight="bold"',
  '2': 'opacity="0.6"',
  '31': 'fill="#ff7b72"',
  '32': 'fill="#7ee787"',
  '33': 'fill="#e3b341"',
  '36': 'fill="#79c0ff"',
};

const lines = commands.flatMap((command) => ['', typed(command)].concat(printedBy(command))).slice(1);
const [width, height] = [columns * letterWidth + 2 * margin, titleBar + lines.length * lineHeight + margin + 4];
const rows = lines.map((line, row) => `<text x="${margin}" y="${titleBar + 4 + (row + 0.75) * lineHeight}">${drawn(line)}</text>`);
const dots = ['#ff5f57', '#febc2e', '#28c840'].map((fill, dot) => `<circle cx="${margin + dot * 20}" cy="18" r="6" fill="${fill}"/>`);
writeFileSync(
  'docs/first-minute.svg',
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#e6edf3">
<title>Four commands at a terminal and what they print</title>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10" fill="#0d1117" stroke="#30363d"/>
${dots.join('\n')}
${rows.join('\n')}
</svg>
`,
);

/** A prompt, the command, and its comment in a paler colour. */
function typed(command: string): string {
  const [words, comment] = command.split(/(?=  # )/);
  return `\u{1b}[32m$\u{1b}[39m \u{1b}[1m${words}\u{1b}[22m\u{1b}[2m${comment}\u{1b}[22m`;
}

function printedBy(command: string): string[] {
  const { status, stdout, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8', env: { ...process.env, FORCE_COLOR: '1' } });
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stderr}`);
  return stdout.trimEnd().split('\n').flatMap(wrapped);
}

/** Wraps lines that are wider than the picture, as a terminal does; colour codes have no width. */
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
    // Non-breaking spaces: viewers would collapse others.
    const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll(' ', '\u{a0}');
    return escaped === '' ? '' : `<tspan ${[...styles].join(' ')}>${escaped}</tspan>`;
  });
}
