import { expect, test } from 'vitest';
import { longestName } from '../../src/mcp-door/door-tools.ts';
import { modelName } from '../../src/inventory/model-name.ts';

/**
 * What clients make of a tool's name, and what they allow. The names of servers are as long as people make them: this one is that of an
 * address in examples and configurations that `toolcrib` writes.
 */
const server = 'toolcrib';
const clients: { client: string; shown(name: string): string; allowed: RegExp }[] = [
  { client: 'Claude Code', shown: (name) => `mcp__${server}__${name}`, allowed: /^[a-zA-Z0-9_-]{1,64}$/ },
  { client: 'the API of Claude', shown: (name) => name, allowed: /^[a-zA-Z0-9_-]{1,64}$/ },
  { client: 'the API of OpenAI', shown: (name) => name, allowed: /^[a-zA-Z0-9_-]{1,64}$/ },
  { client: 'Codex CLI', shown: (name) => `mcp__${server}__${name}`, allowed: /^[a-zA-Z0-9_-]{1,64}$/ },
  // It cuts what is longer, in the middle, so that two tools may become one.
  { client: 'Gemini CLI', shown: (name) => `mcp_${server}_${name}`, allowed: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/ },
  { client: 'VS Code', shown: (name) => `mcp_${server}_${name}`, allowed: /^[a-zA-Z0-9_-]{1,64}$/ },
  // Of server and tool together, beyond which it leaves the tool out.
  { client: 'Cursor', shown: (name) => `${server}:${name}`, allowed: /^[a-zA-Z0-9_:-]{1,60}$/ },
];

const names: [namespace: string, name: string][] = [
  ['crm', 'find'],
  ['a-namespace-of-thirty-two-letters', 'a_tool_with_a_name_that_nobody_ever_wanted_to_type'],
  ['x', 'list.issues/for repo: "quotes" and ünïcödé, 漢字'],
  ['1', '9lives'],
  ['everything', 'y'.repeat(300)],
];

test.each(clients)('[DOOR-6] names fit $client', ({ shown, allowed }) => {
  for (const [namespace, name] of names) expect(shown(modelName(namespace, name, longestName))).toMatch(allowed);
});

test('[DOOR-6] a name that was cut is still one of its own', () => {
  const long = 'a_tool_with_a_name_that_nobody_ever_wanted_to_type';
  const made = [`${long}_1`, `${long}_2`, `${long}-1`, `${long}.1`].map((name) => modelName('ns', name, longestName));
  expect(new Set(made).size).toBe(made.length);
});
