import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, test } from 'vitest';
import { startHttpServer } from '../fixtures/http-server.ts';
import { startEverything, type Era } from './everything/serve-http.ts';
import { runServerSuite, type ServerSuite } from './server-suite.ts';

interface Run {
  suite: ServerSuite;
  era: Era;
  required: number;
  checks: number;
  /** Scenarios with problems that are not ours. */
  excused: RegExp;
}

const runs: Run[] = [
  // It says in the middle of a session that it speaks 2025-03-26, to which the events that it looks for are not sent. It only warns then.
  { suite: '0.1.16', era: 'legacy', required: 30, checks: 35, excused: /^server-sse-polling$/ },
  { suite: '2025-11-25', era: 'both', required: 30, checks: 70, excused: /^$/ },
  // An extension that the SDK does not have. None of these is required.
  { suite: '2026-07-28', era: 'modern', required: 37, checks: 120, excused: /^tasks-/ },
];

describe('the conformance fixture', () => {
  test.each(runs)('passes $suite as a server of the era $era', async ({ suite, era, required, checks, excused }) => {
    await using fixture = await startEverything({ era });
    const scenarios = await runServerSuite({ suite, url: fixture.url });
    expect(scenarios.filter(({ scenario, problems }) => problems.length > 0 && !excused.test(scenario))).toEqual([]);
    expect(scenarios.flatMap(({ scenario, skipped }) => (excused.test(scenario) ? [] : skipped))).toEqual([]);
    const counted = scenarios.filter((scenario) => scenario.required);
    expect(counted).toHaveLength(required);
    expect(counted.reduce((sum, { passed }) => sum + passed, 0)).toBeGreaterThanOrEqual(checks);
  });

  const eras: { era: Era; revision: string }[] = [
    { era: 'legacy', revision: '2025-11-25' },
    { era: 'modern', revision: '2026-07-28' },
    { era: 'both', revision: '2026-07-28' },
  ];
  test.each(eras)('speaks $revision over HTTP as a server of the era $era', async ({ era, revision }) => {
    await using fixture = await startEverything({ era });
    const seen = await tryOut(new StreamableHTTPClientTransport(new URL(fixture.url)));
    expect(seen).toEqual(expected(revision));
  });

  test.each(eras)('speaks $revision over stdio as a server of the era $era', async ({ era, revision }) => {
    const program = join(import.meta.dirname, 'everything/program.ts');
    const seen = await tryOut(new StdioClientTransport({ command: process.execPath, args: [program, '--era', era, '--stdio'] }));
    expect(seen).toEqual(expected(revision));
  });
});

/** A question that is a request has the name as its id that it has in a result. */
function expected(revision: string) {
  return { revision, names: ['user_name'], content: [{ type: 'text', text: 'Hello, Alice!' }] };
}

/** Answers a question of the fixture's and waits for its tools to change, as a client that speaks every revision. */
async function tryOut(transport: Transport) {
  const changes = new EventEmitter();
  const seen = new Set<string>();
  const onChanged = (_error: unknown, tools: { name: string }[] | null) => {
    for (const { name } of tools ?? []) seen.add(name);
    changes.emit('change');
  };
  const client = new Client(
    { name: 'toolcrib-tests', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' }, listChanged: { tools: { onChanged } } },
  );
  const names: unknown[] = [];
  client.setRequestHandler('elicitation/create', (_request, { mcpReq }) => {
    names.push(mcpReq.id);
    return { action: 'accept', content: { name: 'Alice' } };
  });
  await client.connect(transport);
  try {
    const { content } = await client.callTool({ name: 'test_input_required_result_elicitation', arguments: {} });
    // What a server says before its client's stream is open is lost. The tool is there after every second change.
    while (!seen.has('test_changing_tool')) {
      await client.callTool({ name: 'test_trigger_tool_change', arguments: {} });
      await Promise.race([once(changes, 'change'), wait(1000)]);
    }
    return { revision: client.getNegotiatedProtocolVersion(), names, content };
  } finally {
    await client.close();
  }
}

describe('a run of a server suite', () => {
  test('sends the given headers with every request, and finds fault with a server that has nothing', async () => {
    const requests: { authorization?: string; host?: string }[] = [];
    await using server = await startHttpServer(({ headers: { authorization, host } }, response) => {
      requests.push({ authorization, host });
      response.writeHead(404).end();
    });
    const headers = { authorization: 'Bearer token' };
    const scenarios = await runServerSuite({ suite: '2026-07-28', url: `${server.origin}/mcp`, headers });
    expect(scenarios.filter(({ required, problems }) => required && problems.length === 0)).toEqual([]);
    expect(new Set(requests.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer token']));
    expect(new Set(requests.map(({ host }) => host))).toEqual(new Set([new URL(server.origin).host, 'evil.example.com']));
  });
});
