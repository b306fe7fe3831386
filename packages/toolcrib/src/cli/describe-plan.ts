import type { ShownApplied, ShownChange, ShownPlan, ShownTest } from './config-client.ts';
import { paint } from './terminal.ts';
import { printable } from '../text/printable.ts';
import { counted } from '../text/counted.ts';

const colours = { create: 'green', change: 'yellow', adopt: 'cyan', delete: 'red' } as const;
const longest = 200;

/** [SRC-6] The changes of a plan, for a person. Deletions come last. */
export function describePlan({ changes }: ShownPlan): string {
  if (changes.length === 0) return 'The server already matches the file.';
  const counts = Object.keys(colours).flatMap((action) => {
    const count = changes.filter((change) => change.action === action).length;
    return count === 0 ? [] : [`${count} to ${action}`];
  });
  return [...changes.flatMap(describeChange), '', `${counted(changes.length, 'change')}: ${counts.join(', ')}.`].join('\n');
}

function describeChange({ kind, id, action, fields }: ShownChange): string[] {
  const rows = fields.map(({ field, before, after }) => {
    const was = before === null || before === undefined ? '' : `${valueText(before)} -> `;
    return `    ${printable(field)}: ${was}${valueText(after)}`;
  });
  return [`${paint(colours[action], action)} ${kind} ${paint('bold', printable(id))}`, ...rows];
}

/** The outcome of each change. */
export function describeApplied({ changes }: ShownApplied): string {
  const words = { done: paint('green', 'done'), failed: paint('red', 'failed'), not_tried: paint('yellow', 'not tried') };
  const lines = changes.map(({ kind, id, action, outcome, error }) => {
    const why = error === null ? '' : `: ${printable(error.message)}`;
    return `${words[outcome]}  ${action} ${kind} ${printable(id)}${why}`;
  });
  const left = changes.filter(({ outcome }) => outcome !== 'done').length;
  if (left > 0) lines.push('', `${counted(left, 'change')} failed. The others are applied; apply again when the cause is fixed.`);
  return lines.join('\n');
}

/** Only tests that did not pass are shown in detail. */
export function describeTests(tests: readonly ShownTest[]): string {
  const having = (outcome: ShownTest['outcome']) => tests.filter((test) => test.outcome === outcome);
  const [passed, failed, unknown] = [having('passed'), having('failed'), having('unknown')];
  const parts = [
    `${passed.length} passed`,
    ...(failed.length === 0 ? [] : [paint('red', `${failed.length} failed`)]),
    ...(unknown.length === 0 ? [] : [paint('yellow', `${unknown.length} unknown until applied`)]),
  ];
  const lines = [...failed, ...unknown].map(({ name, outcome, reasons }) =>
    [`  ${paint(outcome === 'failed' ? 'red' : 'yellow', outcome)}  ${printable(name)}`]
      .concat(reasons.map((reason) => `    ${printable(reason)}`))
      .join('\n'),
  );
  return [`Tests: ${parts.join(', ')}.`, ...lines].join('\n');
}

function valueText(value: unknown): string {
  const isPlain = typeof value === 'string' && value !== '';
  const text = printable(isPlain ? value : JSON.stringify(value ?? null)).replaceAll(/\s+/g, ' ');
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
