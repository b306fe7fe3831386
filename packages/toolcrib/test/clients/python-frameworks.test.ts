import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { part } from '../parts.ts';
import { openClientHome } from './client-home.ts';
import { clientPrograms } from './client-programs.ts';
import { startDoorWithEverything } from './recorded-door.ts';

const clients = part('mcp-clients');
const { python, langchain } = clientPrograms(clients);
const program = (name: string) => join(import.meta.dirname, 'python', name);

interface Used {
  tools: number;
  answers: string[];
}

describe.skipIf(!clients.available)('a framework that knows headers only', () => {
  test.each([
    ['LangChain’s adapters', [...langchain, program('use_langchain.py')]],
    ['the OpenAI Agents SDK', [...python, program('use_openai_agents.py')]],
    ['Pydantic AI', [...python, program('use_pydantic_ai.py')]],
  ])('[DOOR-4] %s serves two users at once, each with a token of their own', async (_name, command) => {
    await using door = await startDoorWithEverything();
    await using home = await openClientHome();
    const bob = await door.server.running.mint?.('bob');
    const users = [
      { token: door.token, tool: 'builtin_calculator', arguments: { expression: '6 * 7' } },
      { token: bob, tool: 'everything_test_simple_text', arguments: {} },
    ];
    const times = 5;
    const { stdout } = await home.run(command, { input: JSON.stringify({ url: `${door.url}/mcp`, users, times }) });

    const [ofAlice, ofBob] = JSON.parse(stdout) as Used[];
    const listed = door.listedNames().length;
    expect(ofAlice).toEqual({ tools: listed, answers: Array.from({ length: times }, () => expect.stringContaining('42')) });
    expect(ofBob).toEqual({ tools: listed, answers: Array.from({ length: times }, () => expect.stringContaining('simple text')) });
    const callers = async (tool: string) => {
      const { calls } = (await door.admin.get(`/api/calls?tool=${tool}`)).json as { calls: { user_name: string; door: string }[] };
      return calls.map(({ user_name: name, door }) => `${name} ${door}`);
    };
    expect(await callers('builtin:calculator')).toEqual(Array.from({ length: times }, () => 'alice mcp'));
    expect(await callers('everything:test_simple_text')).toEqual(Array.from({ length: times }, () => 'bob mcp'));
  });
});
