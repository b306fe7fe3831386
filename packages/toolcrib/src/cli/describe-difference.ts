import { structuredPatch } from 'diff';
import { canonicalJson } from '../inventory/definition-hash.ts';
import { escapeHidden } from '../inventory/hidden-characters.ts';
import type { ShownDifference } from './difference-client.ts';
import { paint, printable } from './terminal.ts';

const contextLines = 3;
/** Two long texts with little in common take quadratic time; beyond this they are shown one below the other. */
const mostEdits = 2000;

/** What is different about one tool, as somebody reads it who has to say yes or no to it. */
export function describeDifference({ name, state, approval, fields, flags }: ShownDifference): string {
  const lines = [paint('bold', visible(name)) + paint('dim', `  ${visible(approval)}, ${visible(state)}`)];
  for (const { field, before, after } of fields) lines.push(`  ${visible(field)}`, ...changedLines(textOf(before), textOf(after)));
  for (const { kind, at, excerpt } of flags)
    lines.push(paint('yellow', `  ! ${visible(kind)} at ${visible(at)}: ${visible(excerpt).replaceAll(/\s+/g, ' ')}`));
  return lines.join('\n');
}

function changedLines(before: string, after: string): string[] {
  const options = { context: contextLines, maxEditLength: mostEdits };
  const patch = structuredPatch('', '', before, after, undefined, undefined, options);
  const whole = () => [...linesOf(before).map((line) => `-${line}`), ...linesOf(after).map((line) => `+${line}`)];
  const lines = patch?.hunks.flatMap((hunk, index) => (index === 0 ? hunk.lines : [' …'].concat(hunk.lines))) ?? whole();
  // That a text does not end in a line break is nothing anybody here has to know.
  return lines.filter((line) => !line.startsWith('\\')).map(paintLine);
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n');
}

function paintLine(line: string): string {
  const shown = `    ${line.charAt(0)} ${visible(line.slice(1))}`;
  if (line.startsWith('-')) return paint('red', shown);
  return line.startsWith('+') ? paint('green', shown) : shown;
}

/** Nothing of it may hide: what a terminal would leave out, or obey, is written as its code. */
function visible(text: string): string {
  return printable(escapeHidden(text).replaceAll('\r', String.raw`\r`));
}

/** The order of keys means nothing, so it must not look like a difference. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(JSON.parse(canonicalJson(value)), null, 2);
}
