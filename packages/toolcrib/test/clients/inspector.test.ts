import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { part } from '../parts.ts';
import { openClientHome, type ClientHome } from './client-home.ts';
import { clientPrograms } from './client-programs.ts';
import { startDoorWithEverything } from './recorded-door.ts';

const clients = part('mcp-clients');
const { inspector } = clientPrograms(clients);
const prefix = 'everything_test_simple';
const greeting = 'This is a simple';

describe.skipIf(!clients.available)('the MCP Inspector', () => {
  let door: Awaited<ReturnType<typeof startDoorWithEverything>>;
  let home: ClientHome;
  beforeAll(async () => {
    [door, home] = await Promise.all([startDoorWithEverything(), openClientHome()]);
  });
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await door[Symbol.asyncDispose]();
  });

  describe.each([
    ['legacy', '2025-11-25'],
    ['modern', '2026-07-28'],
  ])('in the %s era', (era, revision) => {
    async function ask(method: string, ...words: string[]) {
      const options = ['--transport', 'http', '--protocol-era', era, '--header', `Authorization: Bearer ${door.token}`];
      const command = [...inspector, `${door.url}/mcp`, ...options, '--method', method, ...words];
      return JSON.parse((await home.run(command)).stdout);
    }

    test('[DOOR-2] calls a tool, under the revision of that era, and the record names it', async () => {
      const answer = await ask('tools/call', '--tool-name', `${prefix}_text`);
      expect(answer.content).toEqual([{ type: 'text', text: expect.stringContaining(greeting) }]);
      const call = door.exchanges.findLast(({ rpc }) => rpc === 'tools/call');
      expect(call?.headers['mcp-protocol-version']).toBe(revision);
      const { calls } = (await door.admin.get('/api/calls?limit=1')).json;
      const callId = answer._meta['toolcrib/call_id'];
      expect(calls[0]).toMatchObject({ call_id: callId, door: 'mcp', user_name: 'alice', agent: expect.stringContaining('inspector') });
    });

    test('[DOOR-2] finds no fault with the schemas of the tools', async () => {
      const { tools } = await ask('tools/list', '--strict');
      expect(tools.map(({ name }: { name: string }) => name)).toContain(`${prefix}_text`);
    });

    test('[DOOR-5] lists and reads resources, and lists templates', async () => {
      const [{ resources }, { resourceTemplates }] = await Promise.all([ask('resources/list'), ask('resources/templates/list')]);
      const uri = 'toolcrib://everything/test://static-text';
      expect(resources).toContainEqual(expect.objectContaining({ uri }));
      expect(resourceTemplates).toHaveLength(1);
      const { contents } = await ask('resources/read', '--uri', uri);
      expect(contents).toEqual([expect.objectContaining({ text: expect.stringContaining('static text') })]);
    });

    test('[DOOR-5] lists prompts and gets one', async () => {
      const { prompts } = await ask('prompts/list');
      expect(prompts).toContainEqual(expect.objectContaining({ name: `${prefix}_prompt` }));
      const name = 'everything_test_prompt_with_arguments';
      const { messages } = await ask('prompts/get', '--prompt-name', name, '--prompt-args', 'arg1=one', 'arg2=two');
      expect(messages[0].content.text).toContain("arg1='one', arg2='two'");
    });
  });
});
