import { z } from 'zod';
import { administeredToolSchema } from '../api.ts';
import { align } from '../text/align.ts';
import { matcherText } from './describe-explanation.ts';
import { grantingPolicies, type ShownPolicy } from './granting-policies.ts';
import { parseAnswer } from './parse-answer.ts';
import type { Administrator } from './source-client.ts';
import { lineWidth, paint, print, printJson } from './terminal.ts';
import { printable } from '../text/printable.ts';

const { name, groups } = administeredToolSchema.shape;
// Looser than the contract: a newer server may say more than we know of.
const toolSchema = z.looseObject({ name, groups, state: z.string() });

/** [POL-3] Who can use a tool: the policies that grant it, and their conditions. */
export async function explainWho({ client, token }: Administrator, written: string, { json }: { json: boolean }): Promise<number> {
  const found = await client.json('GET', `/api/tools/${encodeURIComponent(written)}`, { token });
  const tool = parseAnswer(toolSchema, found, client.url);
  const granting = await grantingPolicies({ client, token }, tool.groups);
  if (json) printJson({ tool: tool.name, state: tool.state, groups: tool.groups, policies: granting });
  else print(describe(tool, granting).join('\n'));
  return 0;
}

function describe(tool: z.infer<typeof toolSchema>, granting: readonly ShownPolicy[]): string[] {
  const shown = paint('bold', printable(tool.name));
  const lines = [tool.groups.length === 0 ? `${shown} is in no group.` : `${shown} is in ${tool.groups.map(printable).join(', ')}.`];
  if (tool.state !== 'active') lines.push(`Nobody can use it: it is ${printable(tool.state)}.`);
  if (granting.length === 0) return [...lines, 'No policy grants it, so nobody may use it.'];
  lines.push(tool.state === 'active' ? 'It may be used by:' : 'Otherwise it might be used by:');
  for (const { id, name: title, matchers } of granting) {
    const rows = matchers.map((matcher, index) => [index === 0 ? 'whose' : 'and', matcherText(matcher)]);
    lines.push(`  ${printable(title)} (${printable(id)})`, ...align(rows, { indent: 4, width: lineWidth() }));
  }
  return lines;
}
