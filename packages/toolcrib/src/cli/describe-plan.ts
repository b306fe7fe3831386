import type { ShownApplied, ShownChange, ShownPlan, ShownTest } from './config-client.ts';
import { paint, printable } from './terminal.ts';

const colours = { create: 'green', change: 'yellow', adopt: 'cyan', delete: 'red' } as const;
const longest = 200;

/** [SRC-6] What would be done, for a person: what is made and changed first, and what is deleted last. */
export function describePlan({ changes }: ShownPlan): string {
  if (changes.length === 0) return 'Everything is as the file says.';
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

/** What became of it. */
export function describeApplied({ changes }: ShownApplied): string {
  const words = { done: paint('green', 'done'), failed: paint('red', 'failed'), not_tried: paint('yellow', 'not tried') };
  const lines = changes.map(({ kind, id, action, outcome, error }) => {
    const why = error === null ? '' : `: ${printable(error.message)}`;
    return `${words[outcome]}  ${action} ${kind} ${printable(id)}${why}`;
  });
  const left = changes.filter(({ outcome }) => outcome !== 'done').length;
  if (left > 0) lines.push('', `${counted(left, 'change')} could not be made. What is done stays; apply again when the cause is gone.`);
  return lines.join('\n');
}

/** Only what did not pass is told at length. */
export function describeTests(tests: readonly ShownTest[]): string {
  const having = (outcome: ShownTest['outcome']) => tests.filter((test) => test.outcome === outcome);
  const [passed, failed, unknown] = [having('passed'), having('failed'), having('unknown')];
  const parts = [
    `${passed.length} passed`,
    ...(failed.length === 0 ? [] : [paint('red', `${failed.length} failed`)]),
    ...(unknown.length === 0 ? [] : [paint('yellow', `${unknown.length} unknown until applied`)]),
  ];
  const told = [...failed, ...unknown].map(({ name, outcome, reasons }) =>
    [`  ${paint(outcome === 'failed' ? 'red' : 'yellow', outcome)}  ${printable(name)}`]
      .concat(reasons.map((reason) => `    ${printable(reason)}`))
      .join('\n'),
  );
  return [`Tests: ${parts.join(', ')}.`, ...told].join('\n');
}

function valueText(value: unknown): string {
  const isPlain = typeof value === 'string' && value !== '';
  const text = printable(isPlain ? value : JSON.stringify(value ?? null)).replaceAll(/\s+/g, ' ');
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
