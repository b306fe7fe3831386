import { expect, test } from 'vitest';
import { EndedOnProbeError } from '../../src/sources/mcp/session/session-errors.ts';
import { failureOf, openProgram, openStdio, textOf } from '../fixtures/mcp/sessions.ts';

const legacy = { priorEra: { kind: 'legacy' as const } };

test('[MCP-1] a server of the handshake revisions is recognised by probing, and says who it is', async () => {
  await using opened = await openStdio('plain');
  const { session, era } = opened;
  expect(era).toEqual({ kind: 'legacy' });
  expect(session.info).toEqual({
    name: 'fixture-plain',
    version: '1.0.0',
    protocol_version: '2025-11-25',
    instructions: 'For tests.',
  });
  expect(session.connected).toBe(true);
});

test('[MCP-1] a server that ends on the probe is told apart from a broken one, and is opened as a legacy server', async () => {
  expect(await failureOf(openStdio('exit-on-unknown'))).toBeInstanceOf(EndedOnProbeError);
  await using opened = await openStdio('exit-on-unknown', legacy);
  expect(await textOf(opened.session, 'echo', { text: 'hello' })).toBe('hello');
});

test('[MCP-1] silence after the probe decides nothing', async () => {
  const program = `
    process.stdin.on('data', (data) => {
      for (const line of String(data).trim().split('\\n')) {
        const { id, method, params } = JSON.parse(line);
        const result = { protocolVersion: params?.protocolVersion, capabilities: {}, serverInfo: { name: 'silent', version: '1' } };
        if (method === 'initialize') console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
      }
    }).on('end', () => process.exit());`;
  await using opened = await openProgram(['-e', program], { startupTimeoutMs: 4000 });
  expect(opened.session.info.name).toBe('silent');
  expect(opened.era).toBeUndefined();
});

test('[MCP-1] an answer to the probe that comes too late is not reported', async () => {
  const program = `
    const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
    const asked = [];
    process.stdin.on('data', (data) => {
      for (const line of String(data).trim().split('\\n')) {
        const { id, method, params } = JSON.parse(line);
        if (method === 'server/discover') asked.push(id);
        if (method !== 'initialize') continue;
        for (const late of asked) send({ id: late, error: { code: -32601, message: 'Method not found' } });
        send({ id, result: { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: { name: 'late', version: '1' } } });
      }
    }).on('end', () => process.exit());`;
  const reported: unknown[] = [];
  await using opened = await openProgram(['-e', program], { startupTimeoutMs: 4000, report: (error) => reported.push(error) });
  expect(opened.session.info.name).toBe('late');
  expect(reported).toEqual([]);
});

test('[ERR-4] a handshake that takes too long is given up', async () => {
  const failure = await failureOf(openStdio('hang-handshake', { ...legacy, startupTimeoutMs: 300 }));
  expect(failure).toMatchObject({ code: 'NETWORK_ERROR', message: 'Handshake timed out' });
});

test('[ERR-5] a server that dies in the handshake is quoted in the error', async () => {
  const failure = await failureOf(openStdio('crash-handshake 3 no-database', legacy));
  expect(failure).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('no-database') });
});

test('opening a session can be cancelled', async () => {
  const cancel = new AbortController();
  const opening = failureOf(openStdio('hang-handshake', { signal: cancel.signal }));
  cancel.abort();
  expect(await opening).toMatchObject({ code: 'NETWORK_ERROR', message: 'Opening the session was cancelled' });
});
