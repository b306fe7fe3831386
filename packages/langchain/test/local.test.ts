import { existsSync, readdirSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { livingOf } from '../../toolcrib/test/fixtures/mcp/start-fixture.ts';
import { fixture } from '../../toolcrib/test/fixtures/open-server.ts';
import { temporaryDirectory, untilSeen } from '../../toolcrib/test/running-server.ts';
import { addMcpServer, type LocalMcpServer } from '../src/add-mcp-server.ts';
import { callAsModel, toolNamed } from './called-tool.ts';

afterEach(() => vi.unstubAllEnvs());

const plain = { mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' } as const;
const namesOf = (server: LocalMcpServer) => server.tools().map(({ name }) => name);

async function pidOf(server: LocalMcpServer): Promise<number> {
  const { result } = await server.callTool('process');
  return (result as { pid: number }).pid;
}

describe('[LC-1] an MCP server in the process of the agent', () => {
  test('starts, lists and calls its tools, stops, and leaves nothing behind', async () => {
    await using temporary = await temporaryDirectory();
    vi.stubEnv('TMPDIR', temporary.path);
    const server = addMcpServer({ ...plain, name: 'One' });
    expect([server.listTools(), server.tools()]).toEqual([[], []]);
    await expect(server.callTool('echo')).rejects.toMatchObject({ code: 'CONFLICT', message: 'The MCP server One is not started.' });
    await Promise.all([server.start(), server.start()]);
    expect(server.listTools()).toContainEqual(
      expect.objectContaining({ name: 'one:echo', model_name: 'one_echo', input_schema: expect.objectContaining({ type: 'object' }) }),
    );
    expect(namesOf(server)).toEqual(server.listTools().map(({ model_name }) => model_name));
    expect(await server.callTool('add', { a: 2, b: 40 })).toMatchObject({ success: true, structured_content: { sum: 42 } });
    expect(await server.callTool('one:echo', { text: 'hello' })).toMatchObject({ text: 'hello' });
    await expect(server.callTool('no-such')).rejects.toMatchObject({ name: 'ToolNotFoundError', code: 'NOT_FOUND', origin: 'caller' });
    const pid = await pidOf(server);
    expect(readdirSync(temporary.path).length).toBe(1);
    const echo = toolNamed(server.tools(), 'one_echo');
    await server.stop();
    expect([livingOf([pid]), server.listTools(), server.tools()]).toEqual([[], [], []]);
    expect(readdirSync(temporary.path)).toEqual([]);
    expect(await callAsModel(echo)).toMatchObject({ status: 'error', content: 'The MCP server One is not started.' });
    await server.stop();

    await server.start();
    expect(await callAsModel(echo, { text: 'again' })).toMatchObject({ status: 'success', content: 'again' });
    await server[Symbol.asyncDispose]();
  });

  test('reports wrong arguments and failures of a call', async () => {
    await using server = addMcpServer({ name: 'Demo', mcp_command: fixture('plain') });
    await server.start();
    const give = toolNamed(server.tools(), 'demo_give');
    const cause = { error: { message: 'No stock' }, errorCode: 7 };
    const args = { result: { isError: true, content: [], structuredContent: cause } };
    const said = 'The tool reported: No stock (code=7)';
    expect(await callAsModel(give, args)).toMatchObject({ status: 'error', content: said, artifact: { is_error: true } });
    await expect(give.invoke(args)).rejects.toMatchObject({ name: 'ToolCallError', origin: 'tool', message: said, cause });
    await expect(server.callTool('give', args)).rejects.toMatchObject({ name: 'ToolCallError', message: said, answer: { is_error: true } });
    const refused = server.callTool('refuse', { code: -32_602, message: 'not so' });
    await expect(refused).rejects.toMatchObject({ name: 'ValidationError', code: 'VALIDATION_ERROR', origin: 'tool' });
    await using hasty = addMcpServer({ ...plain, name: 'Hasty' }, { timeoutMs: 50 });
    await hasty.start();
    const slow = await callAsModel(toolNamed(hasty.tools(), 'hasty_hold'), { key: 'k' });
    expect(slow).toMatchObject({ status: 'error', content: 'hasty:hold did not answer within 50 ms' });
    const aborted = { signal: AbortSignal.abort(new Error('too late')) };
    await expect(callAsModel(give, args, aborted)).rejects.toThrow('too late');
  });

  test('reports the tools it adds while it runs', async () => {
    await using server = addMcpServer({ ...plain, name: 'One' });
    await server.start();
    const tools = server.tools();
    const heard: number[] = [];
    const stop = server.onChange((now) => heard.push(now.length));
    const before = tools.length;
    await server.callTool('grow', { name: 'leek' });
    await untilSeen(() => namesOf(server).includes('one_leek'));
    expect([server.tools() === tools, heard]).toEqual([true, [before + 1]]);
    stop();
    expect(await callAsModel(toolNamed(tools, 'one_leek'))).toMatchObject({ content: 'leek ran' });
  });

  test('keeps to the timeout it was given', async () => {
    const resilience = { startupTimeoutMs: 100, restart: { maxAttempts: 1, backoffMs: 1 } };
    await using mute = addMcpServer({ name: 'Mute', mcp_command: fixture('hang-handshake'), resilience });
    await expect(mute.start()).rejects.toThrow('Handshake timed out');
    // A start that has failed can be tried again.
    await expect(mute.start()).rejects.toThrow('Handshake timed out');
    await using wrong = addMcpServer({ name: 'Wrong', colour: 'blue' } as never);
    await expect(wrong.start()).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  test('can run beside others', async () => {
    await using one = addMcpServer({ ...plain, name: 'One' });
    await using two = addMcpServer({ ...plain, name: 'Two' });
    await Promise.all([one.start(), two.start()]);
    expect(await pidOf(one)).not.toBe(await pidOf(two));
    const tools = [...one.tools(), ...two.tools()];
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
    const sums = await Promise.all(['one_add', 'two_add'].map((name, n) => callAsModel(toolNamed(tools, name), { a: n, b: 1 })));
    expect(sums.map(({ content }) => content)).toEqual(['sum: 1', 'sum: 2']);
    await one.stop();
    expect(await two.callTool('echo', { text: 'still here' })).toMatchObject({ text: 'still here' });
  });

  test('is recognised in its own data directory and takes its new registration', async () => {
    await using data = await temporaryDirectory();
    for (const mcp_lifecycle_mode of ['singleton', 'transient'] as const) {
      await using server = addMcpServer({ ...plain, name: 'One', mcp_lifecycle_mode }, { dataDir: data.path });
      await server.start();
      const pids = new Set([await pidOf(server), await pidOf(server)]);
      expect(pids.size).toBe(mcp_lifecycle_mode === 'singleton' ? 1 : 2);
    }
    expect(existsSync(data.path)).toBe(true);
  });

  test('can be stopped while it starts, however long the start would take', async () => {
    await using temporary = await temporaryDirectory();
    vi.stubEnv('TMPDIR', temporary.path);
    const server = addMcpServer({ name: 'Mute', mcp_command: fixture('hang-handshake') });
    const starting = server.start().catch((error: unknown) => error);
    await untilSeen(() => readdirSync(temporary.path, { recursive: true }).some((file) => String(file).includes('/processes/')));
    await server.stop();
    expect(await starting).toMatchObject({ code: 'CONFLICT', message: 'The MCP server Mute was stopped before it was ready.' });
    expect(readdirSync(temporary.path)).toEqual([]);
    await expect(server.callTool('echo')).rejects.toMatchObject({ code: 'CONFLICT' });
  });
});
