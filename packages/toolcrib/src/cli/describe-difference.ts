import { structuredPatch } from 'diff';
import { canonicalJson } from '../model/canonical-json.ts';
import { escapeHidden } from '../inventory/hidden-characters.ts';
import type { ShownDifference } from './difference-client.ts';
import { paint } from './terminal.ts';
import { printable } from '../text/printable.ts';

const contextLines = 3;
/** Comparing two long texts with little in common takes quadratic time. Beyond this they are shown one below the other. */
const mostEdits = 2000;

/** The differences of one tool, for the person who approves it. */
export function describeDifference({ name, state, approval, fields, flags }: ShownDifference): string {
  const lines = [paint('bold', visible(name)) + paint('dim', `  ${visible(approval)}, ${visible(state)}`)];
  for (const { field, before, after } of fields) lines.push(`  ${visible(field)}`, ...changedLines(textOf(before), textOf(after)));
  for (const { kind, at, excerpt } of flags)
    lines.push(paint('yellow', `  ! ${visible(kind)} at ${visible(at)}: ${visible(excerpt).replaceAll(/\s+/g, ' ')}`));
  return lines.join('\n');
}

/** What differs between two texts, with some lines around it. */
export function changedLines(before: string, after: string): string[] {
  const options = { context: contextLines, maxEditLength: mostEdits };
  const patch = structuredPatch('', '', before, after, undefined, undefined, options);
  const whole = () => [...linesOf(before).map((line) => `-${line}`), ...linesOf(after).map((line) => `+${line}`)];
  const lines = patch?.hunks.flatMap((hunk, index) => (index === 0 ? hunk.lines : [' …'].concat(hunk.lines))) ?? whole();
  // A missing line break at the end does not matter here.
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

/** Nothing may hide: characters that a terminal would hide or obey are written as codes. */
function visible(text: string): string {
  return printable(escapeHidden(text).replaceAll('\r', String.raw`\r`));
}

/** The order of keys has no meaning, so it must not look like a difference. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(JSON.parse(canonicalJson(value)), null, 2);
}
