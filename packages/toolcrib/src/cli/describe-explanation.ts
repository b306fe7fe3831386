import { z } from 'zod';
import { explanationSchema } from '../api.ts';
import { align } from '../text/align.ts';
import { lineWidth, paint } from './terminal.ts';
import { printable } from '../text/printable.ts';
import { counted } from '../text/counted.ts';

const { policies } = explanationSchema.shape;
const { matchers } = policies.element.shape;

// Looser than the contract: a newer server may say more than we know of.
export const shownExplanationSchema = z.object({
  ...explanationSchema.shape,
  // Older servers do not say it.
  user_name: explanationSchema.shape.user_name.default(null),
  policies: z.array(
    z.object({
      ...policies.element.shape,
      matchers: z.array(
        z.object({
          ...matchers.element.shape,
          matcher: z.object({ path: z.union([z.string(), z.array(z.string())]), operator: z.string(), value: z.unknown() }),
        }),
      ),
    }),
  ),
});
type ShownExplanation = z.infer<typeof shownExplanationSchema>;
type ShownPolicy = ShownExplanation['policies'][number];

/** [POL-3] An explanation for a person: the decision first, then the reasons. */
export function describeExplanation(explanation: ShownExplanation): string {
  const { administrator, decision, policies, tools, revision } = explanation;
  const who = `${whoIs(explanation)}${administrator ? ', an administrator' : ''}`;
  const lines = [decision === null ? `${who} may use ${count(tools.length, 'tool')}.` : `${who}:`];
  if (decision) lines.push(`${paint('bold', printable(decision.tool))} is ${verdict(decision.allowed)}: ${printable(decision.reason)}.`);
  lines.push('', `Policies, as of revision ${revision}:`);
  if (policies.length === 0) lines.push('  There are no policies, so nobody may use anything.');
  for (const policy of policies) lines.push(...describePolicy(policy));
  if (decision === null && tools.length > 0) lines.push('', 'Tools:', ...tools.map((tool) => `  ${printable(tool)}`));
  return lines.join('\n');
}

function whoIs({ subject, user_name: name }: ShownExplanation): string {
  if (subject === null) return name === null ? 'Somebody with these claims' : printable(name);
  return name === null ? `Subject ${printable(subject)}` : `${printable(name)} (subject ${printable(subject)})`;
}

function describePolicy({ id, name, grants, reason, matchers, groups }: ShownPolicy): string[] {
  const granted = grants ? `grants ${groups.join(', ')}` : 'grants nothing';
  const rows = matchers.map(({ matcher, holds, reason }) => {
    return [holds ? 'holds' : 'fails', matcherText(matcher), reason];
  });
  const painter = (text: string, column: number, row: number) =>
    column === 0 ? paint(matchers[row]?.holds ? 'green' : 'red', text) : text;
  return [
    `  ${paint('bold', printable(name))} (${id}) ${paint(grants ? 'green' : 'red', printable(granted))}: ${printable(reason)}`,
    ...(rows.length === 0 ? [] : align(rows, { indent: 4, width: lineWidth(), paint: painter })),
  ];
}

/** A condition in one line. */
export function matcherText({ path, operator, value }: { path: string | string[]; operator: string; value?: unknown }): string {
  const where = typeof path === 'string' ? path : JSON.stringify(path);
  return `${where} ${operator}${value === undefined ? '' : ` ${JSON.stringify(value)}`}`;
}

function verdict(allowed: boolean): string {
  return allowed ? paint('green', 'allowed') : paint('red', 'not allowed');
}

function count(number: number, noun: string): string {
  return number === 0 ? `no ${noun}s` : counted(number, noun);
}
