import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../../src/secrets/secret.ts';
import { startDocumentService } from '../fixtures/document-service.ts';
import { startHandmadeServer, textResult } from '../fixtures/mcp/handmade-server.ts';
import { plainPrograms } from '../fixtures/mcp/plain-programs.ts';
import { startModernServer } from '../fixtures/mcp/modern-server.ts';
import { exportOwnSpan } from '../fixtures/mcp/own-span.ts';
import { startOAuthServer } from '../fixtures/oauth-server.ts';
import { fixture, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { startTraceCollector, type CollectedSpan } from '../fixtures/trace-collector.ts';
import { startServerWithIssuer, until, userClaims } from '../running-server.ts';

const sseCommand = [process.execPath, join(plainPrograms, 'sse-server.js')];

let collector: Awaited<ReturnType<typeof startTraceCollector>>;
let server: OpenServer;

beforeAll(async () => {
  collector = await startTraceCollector();
  server = await startOpenServer({
    tracing: {
      endpoint: collector.url,
      headers: { 'X-Collector-Key': new Secret('collector-key') },
      serviceName: 'crib',
      resource: { 'deployment.environment.name': 'test' },
    },
  });
  const register = (body: object) => server.admin.post('/api/sources?wait=30000', body);
  await register({ name: 'Local', namespace: 'local', mcp_lifecycle_mode: 'singleton', mcp_command: fixture('plain') });
  await register({ name: 'Fresh', namespace: 'fresh', mcp_command: fixture('plain') });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
});

/** An agent's own place in a trace. */
function agentSpan() {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-01` };
}

/** The names from the one nobody else in the list is above, each under the one before. */
function chain(spans: CollectedSpan[], from: string): string[] {
  const next = spans.filter(({ parentSpanId }) => parentSpanId === from);
  return next.flatMap(({ name, spanId }) => [name].concat(chain(spans, spanId)));
}

async function remoteServer() {
  return startHandmadeServer({
    'tools/list': ({ result }) => result({ tools: [{ name: 'look', inputSchema: { type: 'object' } }] }),
    async 'tools/call'({ request, result }) {
      result(textResult(await exportOwnSpan(collector.url, 'remote server', request.headers.traceparent)));
    },
  });
}

test('[OPS-1] one trace leads from the agent through the request and the call to the span of the remote server', async () => {
  await using remote = await remoteServer();
  await server.admin.post('/api/sources?wait=30000', { name: 'Remote', namespace: 'remote', mcp_server_url: remote.url });
  const agent = agentSpan();
  const { status, headers, json } = await server.alice.call(
    'remote:look',
    { secret: 'an argument' },
    {},
    { traceparent: agent.traceparent },
  );
  expect({ status, trace: headers.get('x-trace-id') }).toEqual({ status: 200, trace: agent.traceId });
  const spans = await collector.trace(agent.traceId, 4);
  expect(chain(spans, agent.spanId)).toEqual(['POST /api/bff/tools/call', 'execute_tool remote:look', 'tools/call look', 'own work']);
  const [request, call, upstream, own] = ['POST', 'execute_tool', 'tools/call', 'own'].map((name) =>
    spans.find((span) => span.name.startsWith(name)),
  );
  expect(request).toMatchObject({
    kind: 2,
    service: 'crib',
    resource: { 'deployment.environment.name': 'test' },
    attributes: { 'http.request.method': 'POST', 'http.route': '/api/bff/tools/call', 'http.response.status_code': 200 },
  });
  expect(call?.attributes).toMatchObject({
    'gen_ai.tool.name': 'remote:look',
    'gen_ai.tool.call.id': json.call_id,
    'toolcrib.source': 'remote',
    'toolcrib.call.status': 'completed',
    'toolcrib.call.attempts': 1,
  });
  expect(upstream).toMatchObject({ kind: 3, attributes: { 'mcp.method.name': 'tools/call', 'server.address': '127.0.0.1' } });
  expect({ service: own?.service, id: own?.spanId }).toEqual({ service: 'remote server', id: json.text });
  const sent = remote.requests.find(({ method }) => method === 'tools/call');
  expect(sent?.headers.traceparent).toBe(`00-${agent.traceId}-${upstream?.spanId}-01`);
  expect(sent?.body?.params?.['_meta']).toMatchObject({ traceparent: sent?.headers.traceparent });
  expect(collector.requests.at(-1)).toMatchObject({ 'content-type': 'application/json' });
  expect(collector.requests.some((headers) => headers['x-collector-key'] === 'collector-key')).toBe(true);
  expect(JSON.stringify(spans)).not.toContain('an argument');
  await server.admin.delete('/api/sources/remote');
});

test('[OPS-1] an OpenAPI service gets the trace context, and the span names the path without its values', async () => {
  await using service = await startDocumentService();
  const body = { name: 'Shelf', namespace: 'shelf', source_type: 'openapi', openapi: { url: service.url } };
  await server.admin.post('/api/sources?wait=30000', body);
  await server.alice.call('shelf:getBook', { id: 'warm' });
  const agent = agentSpan();
  await server.alice.call('shelf:getBook', { id: 'private' }, {}, { traceparent: agent.traceparent });
  const spans = await collector.trace(agent.traceId, 3);
  expect(chain(spans, agent.spanId)).toEqual(['POST /api/bff/tools/call', 'execute_tool shelf:getBook', 'GET /books/{id}']);
  const upstream = spans.find(({ name }) => name === 'GET /books/{id}');
  expect(upstream).toMatchObject({
    kind: 3,
    attributes: {
      'http.request.method': 'GET',
      'url.template': '/books/{id}',
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'server.port': service.port,
    },
  });
  expect(service.seen.at(-1)?.headers.traceparent).toBe(`00-${agent.traceId}-${upstream?.spanId}-01`);
  expect(JSON.stringify(spans)).not.toContain('private');
  await server.admin.delete('/api/sources/shelf');
});

test('[OPS-1] a server over stdio gets the trace context from _meta', async () => {
  const agent = agentSpan();
  const tracestate = 'vendor=note';
  await server.alice.call('local:traced', { collector: collector.url }, {}, { traceparent: agent.traceparent, tracestate });
  const spans = await collector.trace(agent.traceId, 4);
  expect(chain(spans, agent.spanId)).toEqual(['POST /api/bff/tools/call', 'execute_tool local:traced', 'tools/call traced', 'own work']);
  const { json } = await server.alice.call('local:meta', {}, {}, { traceparent: agent.traceparent, tracestate });
  expect(JSON.parse(json.text)).toMatchObject({ tracestate });
});

test('[OPS-1] servers of the first revision over HTTP, and of the stateless one, get the trace context too', async () => {
  await using modern = await startModernServer();
  await server.admin.post('/api/sources?wait=30000', { name: 'Modern', namespace: 'modern', mcp_server_url: modern.url });
  const sse = { name: 'Old', namespace: 'old', mcp_lifecycle_mode: 'singleton', mcp_transport_type: 'sse', mcp_command: sseCommand };
  expect((await server.admin.post('/api/sources?wait=30000', sse)).json).toMatchObject({ status: { state: 'running' } });
  const [newest, old] = [agentSpan(), agentSpan()];
  await server.alice.call('modern:echo', { text: 'x' }, {}, { traceparent: newest.traceparent });
  const upstream = (await collector.trace(newest.traceId, 3)).find(({ name }) => name === 'tools/call echo');
  const sent = modern.requests.find(({ method }) => method === 'tools/call');
  expect(sent?.headers.traceparent).toBe(`00-${newest.traceId}-${upstream?.spanId}-01`);
  await server.alice.call('old:traced', { collector: collector.url }, {}, { traceparent: old.traceparent });
  expect(chain(await collector.trace(old.traceId, 4), old.spanId).at(-1)).toBe('own work');
  for (const source of ['modern', 'old']) await server.admin.delete(`/api/sources/${source}`);
});

test('[OPS-1] the trace shows a session that is opened for one call, a tool that fails and a tool that calls a tool', async () => {
  const [fresh, failed, nested, refused] = [agentSpan(), agentSpan(), agentSpan(), agentSpan()];
  await server.alice.call('fresh:echo', { text: 'x' }, {}, { traceparent: fresh.traceparent });
  const session = (await collector.trace(fresh.traceId, 4)).find(({ name }) => name === 'take session');
  expect(session?.attributes['toolcrib.session.reused']).toBeTypeOf('boolean');
  await server.alice.call('local:fail', {}, {}, { traceparent: failed.traceparent });
  const [upstream, call] = (await collector.trace(failed.traceId, 3)).filter(({ status }) => status?.code === 2);
  expect(upstream).toMatchObject({ name: 'tools/call fail', attributes: { 'error.type': 'tool_error' } });
  expect(call?.attributes).toMatchObject({ 'error.type': 'SERVICE_UNAVAILABLE', 'toolcrib.call.status': 'failed' });
  await server.alice.call('builtin:call_tool', { name: 'local:echo', arguments: { text: 'x' } }, {}, { traceparent: nested.traceparent });
  expect(chain(await collector.trace(nested.traceId, 4), nested.spanId)).toEqual([
    'POST /api/bff/tools/call',
    'execute_tool builtin:call_tool',
    'execute_tool local:echo',
    'tools/call echo',
  ]);
  await server.alice.call('no:such', {}, {}, { traceparent: refused.traceparent });
  const [request] = await collector.trace(refused.traceId, 1);
  expect(request?.attributes).toMatchObject({ 'toolcrib.error.code': 'NOT_FOUND', 'http.response.status_code': 404 });
});

test('[OPS-1] the trace shows waiting for a place and for a credential', async () => {
  await using oauth = await startOAuthServer();
  const command = { mcp_command: fixture('plain') };
  const limits = { concurrency: 1, queue: 1 };
  const credential = { type: 'oauth', authorization_server: oauth.issuer };
  await server.admin.post('/api/sources?wait=30000', { name: 'Narrow', namespace: 'narrow', limits, ...command });
  const personal = { credential, credential_env: 'NOTES_TOKEN', discovery_credential: { type: 'none' } };
  await server.admin.post('/api/sources?wait=30000', { name: 'Personal', namespace: 'personal', ...personal, ...command });
  const [queued, stranger] = [agentSpan(), agentSpan()];

  const first = await server.alice.call('narrow:hold', { key: 'a' }, { async: true });
  const second = await server.alice.call('narrow:echo', { text: 'x' }, { async: true }, { traceparent: queued.traceparent });
  await until(async () => (await server.alice.get(second.json.location)).json.status === 'queued');
  await server.alice.delete(first.json.location);
  const names = (await collector.trace(queued.traceId, 5)).map(({ name }) => name);
  expect(names.toSorted()).toEqual([
    'POST /api/bff/tools/call',
    'execute_tool narrow:echo',
    'take session',
    'tools/call echo',
    'wait for a place',
  ]);

  await server.alice.call('personal:echo', { text: 'x' }, {}, { traceparent: stranger.traceparent });
  const spans = await collector.trace(stranger.traceId, 4);
  expect(chain(spans, stranger.spanId)).toEqual([
    'POST /api/bff/tools/call',
    'execute_tool personal:echo',
    'take session',
    'get credential',
  ]);
  expect(spans.find(({ name }) => name === 'get credential')?.attributes).toEqual({ 'error.type': 'UNAUTHENTICATED' });
  for (const source of ['narrow', 'personal']) await server.admin.delete(`/api/sources/${source}`);
});

test('[OPS-1] fifty calls at once, of two users on one session, have separate traces', async () => {
  const agents = Array.from({ length: 50 }, agentSpan);
  await Promise.all(
    agents.map(({ traceparent }, index) =>
      (index % 2 === 0 ? server.alice : server.bob).call('local:traced', { collector: collector.url }, {}, { traceparent }),
    ),
  );
  for (const { traceId, spanId } of agents) {
    const spans = await collector.trace(traceId, 4);
    expect(chain(spans, spanId)).toEqual(['POST /api/bff/tools/call', 'execute_tool local:traced', 'tools/call traced', 'own work']);
    expect(spans).toHaveLength(4);
  }
});

test('[OPS-1] calls are answered whatever the collector does', async () => {
  try {
    for (const mood of ['refuses', 'babbles', 'hangs'] as const) {
      collector.behave(mood);
      const before = collector.requests.length;
      await expect
        .poll(
          async () => {
            const { json } = await server.alice.call('local:echo', { text: mood });
            expect(json).toMatchObject({ success: true, text: mood });
            return collector.requests.length > before;
          },
          { timeout: 20_000 },
        )
        .toBe(true);
    }
  } finally {
    collector.behave('takes');
  }
});

test('[OPS-1] a missing collector delays neither calls nor the end of the server', async () => {
  const gone = await startTraceCollector();
  await gone[Symbol.asyncDispose]();
  const lonely = await startOpenServer({ tracing: { endpoint: gone.url } });
  expect((await lonely.alice.call('builtin:uuid')).json).toMatchObject({ success: true });
  await lonely[Symbol.asyncDispose]();
});

test('[OPS-1] in production the collector may be anywhere, because the operator has named it, and health checks make no traces', async () => {
  await using own = await startTraceCollector();
  await using production = await startServerWithIssuer({ tracing: { endpoint: `${own.url}/`, serviceName: 'production' } });
  await production.server.client().get('/healthz');
  await production.server.client().get('/metrics');
  const agent = agentSpan();
  const user = await production.signedIn(userClaims);
  await user.call('builtin:uuid', {}, {}, { traceparent: agent.traceparent });
  expect(chain(await own.trace(agent.traceId, 2), agent.spanId)).toEqual(['POST /api/bff/tools/call', 'execute_tool builtin:uuid']);
  expect(own.spans.filter(({ name }) => /healthz|metrics/.test(name))).toEqual([]);
  expect(JSON.stringify(own.spans)).not.toContain(userClaims.sub);
});

test('[OPS-1] without a collector the caller’s trace context is passed on unchanged, and none is made up', async () => {
  await using plain = await startOpenServer();
  await plain.admin.post('/api/sources?wait=30000', { name: 'Local', namespace: 'local', mcp_command: fixture('plain') });
  const { traceparent } = agentSpan();
  const metaOf = async (headers: Record<string, string>) => {
    const { json, headers: answered } = await plain.alice.call('local:meta', {}, {}, headers);
    expect(answered.get('x-trace-id')).toBeNull();
    return Object.keys(JSON.parse(json.text)).includes('traceparent') ? JSON.parse(json.text).traceparent : undefined;
  };
  expect(await metaOf({ traceparent })).toBe(traceparent);
  expect(await metaOf({})).toBeUndefined();
  expect(await metaOf({ traceparent: 'not a context' })).toBeUndefined();
});
