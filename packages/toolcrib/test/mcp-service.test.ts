import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openMcpService, type McpService } from '../src/mcp-service.ts';
import {
  ConnectionError,
  ProtocolError,
  TimeoutError,
  ToolCallError,
  ToolNotFoundError,
  TransportError,
  ValidationError,
  type CribError,
} from '../src/index.ts';
import { startHandmadeServer } from './fixtures/mcp/handmade-server.ts';
import { startDocumentService } from './fixtures/document-service.ts';
import { livingOf } from './fixtures/mcp/start-fixture.ts';
import { fixture } from './fixtures/open-server.ts';
import { pluginDirectory } from './mcp/registration-fixture.ts';
import { temporaryDirectory, type TemporaryDirectory } from './running-server.ts';

let data: TemporaryDirectory;
let service: McpService;

beforeEach(async () => {
  data = await temporaryDirectory();
  service = await openMcpService({ dataDir: data.path, warn: () => undefined });
});

afterEach(async () => {
  await service[Symbol.asyncDispose]();
  await data[Symbol.asyncDispose]();
});

const plain = { mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' } as const;
/** How many server processes there are by the gateway's own account. */
const processes = async () => (await readdir(join(data.path, 'processes'))).length;

async function started(config: Parameters<McpService['create']>[0]): Promise<string> {
  const { id } = await service.create(config);
  await service.start(id);
  return id;
}

async function pidOf(id: string): Promise<number> {
  const { text } = await service.callTool(id, 'process', {});
  return (JSON.parse(text) as { pid: number }).pid;
}

describe('[LIFE-6] McpService', () => {
  test('[SRC-2] [MC-T7] takes an McpConfig under its own id, and returns it as it was given', async () => {
    const config = {
      id: '6f1c7a52-9f0e-4c53-8f5e-2b1d9b0f7a11',
      name: 'Config',
      enabled: true,
      source: 'Manual',
      package: { package_type: 'Binary', identifier: fixture()[1], runtime_hint: 'node' },
      transport: 'Stdio',
      env_vars: { A_TOKEN: { name: 'A_TOKEN', value: 'sealed-1', secret_ref: null, is_secret: true } },
      config: null,
    } as const;
    expect(await service.create(config)).toMatchObject({ id: config.id });
    await service.start(config.id);
    expect((await service.callTool(config.id, 'echo', { text: 'hello' })).text).toBe('hello');
    const got = service.get(config.id);
    const hidden = { A_TOKEN: { ...config.env_vars.A_TOKEN, value: '***' } };
    expect(got).toMatchObject({ ...config, env_vars: hidden });
    if (got === undefined) return;
    expect(await service.update(got)).toEqual(got);
    expect(await service.update({ ...got, name: 'Renamed' })).toMatchObject({ ...config, name: 'Renamed', env_vars: hidden });
    await expect(service.update(got)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(service.create(config)).rejects.toMatchObject({ code: 'CONFLICT', field: 'id' });
  });

  test('[MC-T1] [MC-T2] [MC-T9] starts and stops a real process, and its status says so', async () => {
    const { id } = await service.create({ ...plain, name: 'One', enabled: false });
    expect(service.status(id)).toEqual({ state: 'disabled' });
    expect(await processes()).toBe(0);
    await service.update({ id, enabled: true });
    const pid = await pidOf(id);
    expect(livingOf([pid])).toEqual([pid]);
    expect(service.status(id)).toMatchObject({ state: 'running', tools: expect.arrayContaining(['echo', 'add']) });
    await service.stop(id);
    expect(livingOf([pid])).toEqual([]);
    expect(service.status(id)).toEqual({ state: 'stopped' });
    await service.restart(id);
    expect(await pidOf(id)).not.toBe(pid);
  });

  test('[MC-T3] lists the tools of a server after its start, until it stops', async () => {
    const id = await started({ ...plain, name: 'One' });
    const names = service.availableTools().map(({ name }) => name);
    expect(names).toContain('one:echo');
    expect(names).toEqual(names.toSorted());
    await service.stop(id);
    expect(service.availableTools()).toEqual([]);
  });

  test('[MC-T4] returns the answer of a tool, called by its own name or the canonical one', async () => {
    const id = await started({ ...plain, name: 'One' });
    expect(await service.callTool(id, 'add', { a: 2, b: 40 })).toMatchObject({ success: true, text: '42', result: { sum: 42 } });
    expect(await service.callTool(id, 'one:echo', { text: 'hello' })).toMatchObject({ success: true, text: 'hello' });
  });

  test('[SRC-4] [UTCP-1] imports the servers and HTTP tools of a UTCP manual, and calls both', async () => {
    await using http = await startDocumentService();
    const [command = '', ...args] = fixture('plain');
    const template = { call_template_type: 'mcp', config: { mcpServers: { near: { command, args } } } };
    const tools = [
      { name: 'near.echo', tool_call_template: template },
      { name: 'get_book', tool_call_template: { call_template_type: 'http', url: `${http.origin}/books/{id}` } },
      { name: 'run', tool_call_template: { call_template_type: 'cli' } },
    ];
    const outcomes = await service.import({ utcp_version: '1.0.1', tools }, { name: 'mixed' });
    expect(outcomes.map(({ entry, outcome }) => [entry, outcome])).toEqual([
      ['tools[0].config.mcpServers.near', 'registered'],
      ['tools[1]', 'registered'],
      ['tools[2]', 'refused'],
    ]);
    const [near = '', mixed = ''] = outcomes.map(({ id }) => id ?? '');
    await Promise.all([service.start(near), service.start(mixed)]);
    expect(await service.callTool(near, 'echo', { text: 'hello' })).toMatchObject({ success: true, text: 'hello' });
    expect(await service.callTool(mixed, 'get_book', { id: '7' })).toMatchObject({ result: { path: '/books/7' } });
    expect(service.availableTools().map(({ name }) => name)).toContain('mixed:get_book');
    expect(service.findToolProvider('get_book')).toBe(mixed);
    expect(service.list().map(({ id }) => id)).toEqual([near]);
    const text = `{ "mcpServers": { /* the same */ "near": ${JSON.stringify({ command, args })} } }`;
    expect(await service.import(text)).toMatchObject([{ outcome: 'unchanged', id: near }]);
    await expect(service.import('{}')).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  test('[MCP-5] starts a stopped singleton once, however many calls come', async () => {
    const id = await started({ ...plain, name: 'One' });
    await service.stop(id);
    const pids = await Promise.all([pidOf(id), pidOf(id), pidOf(id)]);
    expect(new Set(pids).size).toBe(1);
    expect(service.status(id)).toMatchObject({ state: 'running' });
  });

  describe('[EXEC-6] throws a failed call under the name of what went wrong', () => {
    const failureOf = (calling: Promise<unknown>): Promise<CribError> =>
      calling.then(
        () => expect.unreachable(),
        (error) => error,
      );

    test('by the code that the server sent', async () => {
      const id = await started({ ...plain, name: 'One' });
      const byRpcCode = [
        [-32_600, ValidationError, 'VALIDATION_ERROR'],
        [-32_602, ValidationError, 'VALIDATION_ERROR'],
        [-32_601, ToolNotFoundError, 'NOT_FOUND'],
        [-32_603, ToolCallError, 'SERVICE_UNAVAILABLE'],
        [-32_000, ToolCallError, 'SERVICE_UNAVAILABLE'],
      ] as const;
      for (const [rpc, Class, code] of byRpcCode) {
        const error = await failureOf(service.callTool(id, 'refuse', { code: rpc, message: 'no' }));
        expect(error).toBeInstanceOf(Class);
        expect(error).toMatchObject({
          code,
          message: 'no',
          origin: 'tool',
          cause: { code: rpc },
          answer: { success: false, tool: 'one:refuse' },
        });
      }
    });

    test('[EXEC-4] [ERR-7] with everything the tool said about it as its cause', async () => {
      const id = await started({ ...plain, name: 'One' });
      const plainly = await failureOf(service.callTool(id, 'fail', { text: 'no' }));
      expect(plainly).toBeInstanceOf(ToolCallError);
      expect(plainly).toMatchObject({ message: 'no', origin: 'tool', retryable: false, cause: undefined, answer: { text: 'no' } });
      const said = { error: { message: 'too late' }, code: 'E_LATE', retriable: 'yes', order: 7 };
      const structured = await failureOf(service.callTool(id, 'give', { result: { content: [], structuredContent: said, isError: true } }));
      expect(structured).toMatchObject({ message: 'too late (code=E_LATE retriable=true)', retryable: true, cause: said });
    });

    test('[ERR-5] [ERR-6] [ERR-8] [ERR-9] if the server gave no answer, or was not called', async () => {
      const id = await started({ ...plain, name: 'One' });
      const late = await failureOf(service.callTool(id, 'hold', { key: 'k' }, { timeoutMs: 50 }));
      expect(late).toBeInstanceOf(TimeoutError);
      expect(late).toMatchObject({ code: 'NETWORK_ERROR', answer: { status: 'timed_out' } });
      expect(await failureOf(service.callTool(id, 'invalid', { how: 'result' }))).toBeInstanceOf(ProtocolError);
      const crashed = await failureOf(service.callTool(id, 'crash', { code: 9 }));
      expect(crashed).toBeInstanceOf(TransportError);
      expect(crashed).toMatchObject({ code: 'SERVICE_UNAVAILABLE', origin: 'source', message: expect.stringContaining('code 9') });

      await using upstream = await startHandmadeServer({
        'tools/list': ({ result }) => result({ tools: [{ name: 'cut', inputSchema: { type: 'object', required: ['now'] } }] }),
        'tools/call': ({ response }) => response.destroy(),
      });
      const remote = await started({ name: 'Remote', mcp_server_url: upstream.url });
      const lost = await failureOf(service.callTool(remote, 'cut', { now: true }));
      expect(lost).toBeInstanceOf(ConnectionError);
      expect(lost).toMatchObject({ code: 'NETWORK_ERROR', origin: 'source' });

      const wrong = await failureOf(service.callTool(remote, 'cut', {}));
      expect(wrong).toBeInstanceOf(ValidationError);
      expect(wrong).toMatchObject({ field: 'arguments.now', answer: undefined });
      expect(await failureOf(service.callTool(remote, 'cup', {}))).toBeInstanceOf(ToolNotFoundError);
    });

    test('and with the reason of its signal if that ended it', async () => {
      const id = await started({ ...plain, name: 'One' });
      const cancel = new AbortController();
      const held = service.callTool(id, 'hold', { key: 'k' }, { signal: cancel.signal });
      cancel.abort(new Error('enough'));
      await expect(held).rejects.toBe(cancel.signal.reason);
      await expect(service.callTool(id, 'echo', {}, { signal: cancel.signal })).rejects.toBe(cancel.signal.reason);
    });
  });

  test('[MCP-9] [MCP-13] reports the progress of a call and passes questions to a handler', async () => {
    const id = await started({ ...plain, name: 'One' });
    const seen: unknown[] = [];
    const { call_id } = await service.callTool(id, 'progress', { steps: 2 }, { onEvent: (event) => seen.push(event) });
    expect(seen).toEqual([1, 2].map((progress) => ({ type: 'progress', call_id, progress, total: 2, message: `step ${progress}` })));
    const loud = () => {
      throw new Error('a listener of the application');
    };
    expect(await service.callTool(id, 'progress', {}, { onEvent: loud })).toMatchObject({ success: true });

    const answers = [
      [{}, { action: 'decline' }],
      [{ onEvent: () => undefined }, { action: 'decline' }],
      [{ onElicitation: async () => ({ action: 'accept', content: { sure: true } }) }, { action: 'accept', content: { sure: true } }],
      [{ onElicitation: () => Promise.reject(new Error('nobody is there')) }, { action: 'cancel' }],
    ] as const;
    for (const [options, said] of answers) expect((await service.callTool(id, 'elicit', {}, options)).result).toEqual(said);
  });

  test('[MCP-7] tells listeners of new tools until they stop listening', async () => {
    const id = await started({ ...plain, name: 'One' });
    const heard = Promise.withResolvers<string[]>();
    const stop = service.onToolsChanged(() => {
      const names = service.availableTools().map(({ name }) => name);
      if (names.includes('one:later')) heard.resolve(names);
    });
    await service.callTool(id, 'grow', { name: 'later' });
    expect(await heard.promise).toContain('one:later');
    stop();
  });

  test('[MC-T5] [LIFE-8] starts other servers when one fails, whose tools are not listed', async () => {
    const [broken, mute, good] = await Promise.all([
      service.create({ name: 'Broken', mcp_command: fixture('crash-handshake') }),
      service.create({ name: 'Mute', mcp_command: fixture('hang-handshake') }),
      service.create({ ...plain, name: 'Good' }),
    ]);
    await service.start(good.id);
    await expect(service.start(broken.id)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(service.status(broken.id)).toMatchObject({ state: 'error', code: 'SERVICE_UNAVAILABLE' });
    expect(service.status(mute.id)).toEqual({ state: 'starting' });
    expect(await service.callTool(good.id, 'echo', { text: 'fine' })).toMatchObject({ text: 'fine' });
    expect(new Set(service.availableTools().map(({ source_id }) => source_id))).toEqual(new Set([good.id]));
  });

  test('[MC-T6] [MC-T7] passes variables and secrets to the environment of the process', async () => {
    // It dies where one of them is not as it should be, since whatever it said of them would be hidden.
    const check = `
      const { COLOUR, A_TOKEN } = process.env;
      if (COLOUR !== 'blue' || A_TOKEN !== 'sealed-in-the-store') process.exit(9);
      import(process.argv[1]);`;
    const [node = '', program = ''] = fixture();
    const directory = await pluginDirectory({ 'check.mjs': check.replace('process.argv[1]', JSON.stringify(program)) });
    const { id } = await service.create({
      name: 'Environment',
      mcp_command: [node, join(directory, 'check.mjs'), 'plain'],
      mcp_env_vars: { COLOUR: 'blue', A_TOKEN: 'sealed-in-the-store' },
    });
    await service.start(id);
    expect(service.get(id)?.definition.environment).toEqual({ COLOUR: 'blue', A_TOKEN: '***' });
    const { text } = await service.callTool(id, 'environment', {});
    expect(JSON.parse(text)).toMatchObject({ COLOUR: 'blue', A_TOKEN: '***' });
  });

  test('[MC-T8] ends every process on shutdown, and each server can be started again', async () => {
    const ids = [await started({ ...plain, name: 'One' }), await started({ ...plain, name: 'Two' })];
    const waiting = await started({ name: 'Waiting', mcp_command: fixture('plain'), standby: 2 });
    const pids = await Promise.all(ids.map(pidOf));
    await service.shutdownAll();
    expect(await processes()).toBe(0);
    expect(livingOf(pids)).toEqual([]);
    for (const id of [...ids, waiting]) expect(service.status(id)).toEqual({ state: 'stopped' });
    await service.start(ids[0] ?? '');
    expect(service.status(ids[0] ?? '')).toMatchObject({ state: 'running' });
  });

  test('finds a tool by its canonical name, else by its own, and among several servers in the first by namespace', async () => {
    const b = await started({ ...plain, name: 'B' });
    const ab = await started({ ...plain, name: 'A B' });
    const a = await started({ ...plain, name: 'A' });
    expect(service.findToolProvider('b:echo')).toBe(b);
    expect(service.findToolProvider('b.echo')).toBe(b);
    expect(service.findToolProvider('echo')).toBe(a);
    await service.stop(a);
    expect(service.findToolProvider('echo')).toBe(ab);
    expect(service.findToolProvider('a:echo')).toBeUndefined();
    expect(service.findToolProvider('no-such')).toBeUndefined();
    // The built-in source is not an MCP server.
    expect(service.findToolProvider('builtin:uuid')).toBeUndefined();
  });

  test('lists, replaces and deletes servers, which outlive the application', async () => {
    const { id } = await service.create({ ...plain, name: 'One', mcp_env_vars: { A_TOKEN: 'kept-by-the-stars' } });
    await service.update({ ...plain, id, name: 'Uno', mcp_env_vars: { A_TOKEN: '***', LEVEL: 'info' } });
    expect(service.list()).toMatchObject([{ id, name: 'Uno', namespace: 'one', enabled: true, source_type: 'mcp' }]);
    await service[Symbol.asyncDispose]();
    service = await openMcpService({ dataDir: data.path });
    expect(service.get(id)?.definition.environment).toEqual({ A_TOKEN: '***', LEVEL: 'info' });
    await service.start(id);
    expect(await service.callTool(id, 'echo', { text: 'back' })).toMatchObject({ text: 'back' });
    await service.delete(id);
    expect([service.list(), service.get(id), await processes()]).toEqual([[], undefined, 0]);
  });

  test('[MC-NT1] does not start a disabled server, which stays as it is', async () => {
    const { id } = await service.create({ ...plain, name: 'Off', enabled: false });
    for (const act of [() => service.start(id), () => service.restart(id), () => service.callTool(id, 'echo', {})]) {
      await expect(act()).rejects.toMatchObject({ code: 'CONFLICT' });
      expect([service.status(id), await processes()]).toEqual([{ state: 'disabled' }, 0]);
    }
  });

  test('[MC-NT2] finds and executes nothing for an unknown id', async () => {
    const id = await started({ ...plain, name: 'One' });
    const unknown = '00000000-0000-4000-8000-00000000dead';
    const missing = { code: 'NOT_FOUND' };
    await expect(service.callTool(unknown, 'grow', { name: 'grown' })).rejects.toMatchObject(missing);
    await expect(service.callTool(id, 'no-such', {})).rejects.toMatchObject(missing);
    for (const act of [service.start, service.stop, service.restart, service.delete])
      await expect(act(unknown)).rejects.toMatchObject(missing);
    await expect(service.update({ id: unknown, enabled: false })).rejects.toMatchObject(missing);
    expect(() => service.status(unknown)).toThrow(expect.objectContaining(missing));
    // The server itself has seen no such call.
    expect(await service.callTool(id, 'cancelled', {})).toMatchObject({ text: '[]' });
    expect(service.findToolProvider('grown')).toBeUndefined();
  });

  test('[MC-NT3] does not save a server without a name', async () => {
    for (const config of [{ ...plain }, { ...plain, name: '  ' }]) {
      await expect(service.create(config)).rejects.toMatchObject({ code: 'VALIDATION_ERROR', message: 'Name is required', field: 'name' });
    }
    const unread = { ...plain, name: 'X', colour: 'blue' };
    await expect(service.create(unread)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(service.list()).toEqual([]);
  });

  test('[MC-NT4] [ERR-3] does not save a server that lacks a required variable', async () => {
    const environment_variables = [{ name: 'A_TOKEN', required: true, secret: true }];
    const manifest = { name: 'needy', packages: [{ runtime: 'node', command: ['./server.js'], environment_variables }] };
    const mcp_plugin_dir = await pluginDirectory({ 'plugin.json': manifest, 'server.js': '' });
    const refused = { code: 'VALIDATION_ERROR', message: 'Missing required credentials', field: 'mcp_env_vars.A_TOKEN' };
    for (const mcp_env_vars of [undefined, { A_TOKEN: '' }, { A_TOKEN: { secret_ref: 'not-there' } }, { A_TOKEN: '${NOT_THERE}' }]) {
      await expect(service.create({ name: 'Needy', mcp_plugin_dir, mcp_env_vars })).rejects.toMatchObject(refused);
    }
    expect([service.list(), await processes()]).toEqual([[], 0]);
  });

  test('[LIFE-7] disables a server again that cannot be started, and gives the reason', async () => {
    const broken = { mcp_command: fixture('crash-handshake', '3', 'no licence'), name: 'Broken' };
    const { id } = await service.create({ ...broken, enabled: false });
    for (const update of [
      { id, enabled: true },
      { ...broken, id, enabled: true },
    ]) {
      await expect(service.update(update)).rejects.toMatchObject({ message: expect.stringContaining('no licence') });
      expect([service.get(id)?.enabled, service.status(id)]).toEqual([false, { state: 'disabled' }]);
    }
    await service.update({ ...plain, id, name: 'Mended', enabled: true });
    expect([service.get(id)?.enabled, service.status(id)]).toMatchObject([true, { state: 'running' }]);
    await service.update({ id, enabled: false });
    expect([service.get(id)?.enabled, service.status(id), await processes()]).toEqual([false, { state: 'disabled' }, 0]);
  });
});
