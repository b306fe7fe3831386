import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { petSchema, startGraphqlService, type GraphqlService } from '../fixtures/graphql-service.ts';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { temporaryDirectory, until } from '../running-server.ts';

let server: OpenServer;
let service: GraphqlService;
let shop: string;
beforeAll(async () => {
  [server, service] = await Promise.all([startOpenServer(), startGraphqlService()]);
  ({ namespace: shop } = await register({ endpoint: service.endpoint }, { headers: { 'X-Team': 'blue' } }));
});
beforeEach(() => void service.requests.splice(0));
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

let count = 0;
/** Registers a service under a namespace of its own, and waits until it runs or has failed. */
async function register(graphql: object, more: object = {}) {
  const body = { name: 'Shop', namespace: `pets-${++count}`, source_type: 'graphql', graphql, ...more };
  const { status, json } = await server.admin.post('/api/sources?wait=20000', body);
  return { status, json, body, namespace: body.namespace, path: `/api/sources/${json.id}` };
}
const toolsOf = async (namespace: string) =>
  (await server.alice.listedNames()).filter((name) => name.startsWith(`${namespace}:`)).map((name) => name.slice(namespace.length + 1));
const call = async (tool: string, args: object = {}, more: object = {}) => (await server.alice.call(`${shop}:${tool}`, args, more)).json;

describe('[GQL-1] a service that describes itself', () => {
  test('is added by its endpoint: each query and mutation is a tool', async () => {
    const { status, json, namespace } = await register({ endpoint: service.endpoint });
    expect(status).toBe(201);
    expect(json).toMatchObject({
      source_type: 'graphql',
      graphql: { endpoint: service.endpoint },
      definition: { server_url: service.endpoint, introspection: true, selection: { depth: 2, fields: 50 } },
      status: { state: 'running', tools: 9 },
      server: { name: new URL(service.endpoint).host, protocol_version: 'GraphQL introspection' },
      import: { operations: 10, tools: 9, skipped: [{ operation: 'subscription petAdded' }], servers: [service.endpoint] },
    });
    expect((await toolsOf(namespace)).sort()).toEqual(['addPet', 'big', 'broken', 'long', 'pet', 'pets', 'secretEcho', 'slow', 'whoami']);
    const { json: listed } = await server.alice.get('/api/bff/tools');
    const pet = listed.tools.find(({ name }: { name: string }) => name === `${namespace}:pet`);
    expect(pet).toMatchObject({
      description: 'A pet by its name',
      tags: ['query'],
      annotations: { readOnlyHint: true },
      input_schema: { properties: { name: { type: 'string' }, _select: { type: 'string' } }, required: ['name'] },
    });
  });

  test('is called with the arguments as variables, and answers with its data', async () => {
    const answer = await call('pets', { kind: 'CAT' });
    expect(answer).toMatchObject({
      success: true,
      structured_content: {
        data: { pets: [{ id: '1', name: 'Tom', kind: 'CAT', owner: { id: '7', name: 'Ann', email: 'ann@example.org' } }] },
      },
      metadata: { http: { status: 200 } },
    });
    expect(service.requests).toMatchObject([
      {
        headers: {
          accept: 'application/graphql-response+json, application/json;q=0.9',
          'content-type': 'application/json',
          'x-team': 'blue',
        },
        body: { operationName: 'pets', variables: { kind: 'CAT' } },
      },
    ]);
    expect(service.requests[0]?.body.query).toBe('query pets($kind: Kind) { pets(kind: $kind) { id name kind owner { id name email } } }');
  });

  test('changes things by mutations', async () => {
    const answer = await call('addPet', { pet: { name: 'Kim' } });
    expect(answer).toMatchObject({ success: true, structured_content: { data: { addPet: { name: 'Kim', kind: 'DOG' } } } });
    expect(service.requests[0]?.body.query).toContain('mutation addPet($pet: NewPet!)');
  });

  test('arguments that do not fit are refused before anything is sent', async () => {
    expect(await call('pets', { kind: 'COW' })).toMatchObject({ code: 'VALIDATION_ERROR', field: 'arguments.kind' });
    expect(service.requests).toEqual([]);
  });

  test('integers that a number would change come as text', async () => {
    expect(await call('big')).toMatchObject({ structured_content: { data: { big: '9007199254740993' } } });
  });
});

describe('[GQL-2] a selection', () => {
  test('is chosen by the caller', async () => {
    const answer = await call('pet', { name: 'Tom', _select: '{ called: name friends(first: 1) { id } }' });
    expect(answer.structured_content).toEqual({ data: { pet: { called: 'Tom', friends: [{ id: '1' }] } } });
  });

  test('is refused before anything is sent where it does not fit the schema', async () => {
    expect(await call('pet', { name: 'Tom', _select: '{ nam }' })).toMatchObject({
      success: false,
      error: {
        code: 'VALIDATION_ERROR',
        origin: 'caller',
        message: 'arguments._select asks for nam, which Pet does not have. Did you mean name?',
      },
    });
    expect(await call('pet', { name: 'Tom', _select: 'id } mutation { addPet(pet: {name: "X"}) { id }' })).toMatchObject({
      error: { message: expect.stringContaining('must be one selection and nothing else') },
    });
    expect(service.requests).toEqual([]);
  });

  test('is as large as the registration says where nobody chooses', async () => {
    const { namespace } = await register({ endpoint: service.endpoint, selection: { depth: 0, fields: 2 } });
    service.requests.splice(0);
    await server.alice.call(`${namespace}:pet`, { name: 'Tom' });
    expect(service.requests[0]?.body.query).toContain('{ id name }');
  });
});

describe('[GQL-3] a failure', () => {
  test('of the field is the failure of the tool', async () => {
    expect(await call('broken')).toMatchObject({
      success: false,
      is_error: true,
      error: { message: 'The shop is closed (CLOSED, at broken)', origin: 'tool' },
      structured_content: { data: { broken: null }, errors: [{ message: 'The shop is closed', path: ['broken'] }] },
    });
  });

  test('of a part leaves the rest, and the result says that it is partial', async () => {
    const answer = await call('pet', { name: 'Rex' });
    expect(answer).toMatchObject({
      success: true,
      is_error: false,
      structured_content: { data: { pet: { name: 'Rex', owner: null } }, errors: [{ path: ['pet', 'owner'] }] },
      metadata: { partial: true },
    });
    expect(answer.text).toContain('The owner of Rex is unknown (NOT_FOUND, at pet.owner)');
  });

  test('to answer in time is a timeout', async () => {
    expect(await call('slow', {}, { timeout_ms: 300 })).toMatchObject({ success: false, status: 'timed_out' });
  });

  test('does not tell the secret that was sent', async () => {
    const { namespace } = await register({ endpoint: service.endpoint }, { credential: { type: 'bearer', token: 'sesame-open-42' } });
    const { json } = await server.alice.call(`${namespace}:secretEcho`);
    expect(JSON.stringify(json)).not.toContain('sesame-open-42');
    expect(json.structured_content).toEqual({ data: { secretEcho: 'You sent Bearer ***' } });
  });
});

describe('a schema', () => {
  test('is asked for with the credential of the source', async () => {
    await using guarded = await startGraphqlService({ authorization: 'Bearer sesame-open-43' });
    const { json: refused } = await register({ endpoint: guarded.endpoint });
    expect(refused.status).toMatchObject({ state: 'error', message: expect.stringContaining('discovery_credential') });
    const { json } = await register({ endpoint: guarded.endpoint }, { credential: { type: 'bearer', token: 'sesame-open-43' } });
    expect(json.status).toMatchObject({ state: 'running', tools: 9 });
  });

  test('that is given describes a service which does not return its schema', async () => {
    await using silent = await startGraphqlService({ introspection: false });
    const { json } = await register({ endpoint: silent.endpoint });
    expect(json.status).toMatchObject({
      state: 'error',
      message: expect.stringContaining('Give the schema in graphql.url, graphql.file or graphql.text'),
    });
    const given = await register({ endpoint: silent.endpoint, text: petSchema });
    expect(given.json).toMatchObject({ status: { state: 'running', tools: 9 }, server: { protocol_version: 'GraphQL SDL' } });
    const { json: answer } = await server.alice.call(`${given.namespace}:pet`, { name: 'Tom', _select: 'name' });
    expect(answer.structured_content).toEqual({ data: { pet: { name: 'Tom' } } });
  });

  test('in a file is read again by a refresh, and where nothing has changed nothing is done', async () => {
    await using folder = await temporaryDirectory();
    const file = join(folder.path, 'schema.graphql');
    await writeFile(file, 'type Query { whoami: Caller! } type Caller { team: String }');
    const { json, path, namespace } = await register({ endpoint: service.endpoint, file });
    expect(json.status).toMatchObject({ state: 'running', tools: 1 });
    await server.admin.post(`${path}/refresh`, undefined);
    const imports = async () => (await server.admin.get(`${path}/logs`)).text.match(/1 tools?, 0 skipped/g)?.length;
    expect(await imports()).toBe(1);
    await writeFile(file, petSchema);
    await server.admin.post(`${path}/refresh`, undefined);
    expect(await toolsOf(namespace)).toHaveLength(9);
  });

  test('that was pasted is kept by a replacement that gives none, and given up for introspection', async () => {
    const text = 'type Query { whoami: Caller! } type Caller { team: String }';
    const { path, body, namespace } = await register({ endpoint: service.endpoint, text });
    const again = await server.admin.put(path, {
      ...body,
      graphql: { endpoint: service.endpoint },
      limits: { concurrency: 9 },
    });
    expect(again.json).toMatchObject({ definition: { document: { stored: expect.any(String) }, introspection: false } });
    expect(await toolsOf(namespace)).toEqual(['whoami']);
    const { status } = await server.admin.put(path, { ...body, graphql: { endpoint: service.endpoint, introspection: true } });
    expect(status).toBe(200);
    await until(async () => (await toolsOf(namespace)).length === 9);
  });

  test('is kept from before a restart of the source, and read once for a selection that is chosen', async () => {
    const { path, namespace } = await register({ endpoint: service.endpoint });
    await server.admin.post(`${path}/restart`, undefined);
    await until(async () => (await server.admin.get(path)).json.status.state === 'running');
    service.requests.splice(0);
    for (let times = 0; times < 2; times++) {
      const { json } = await server.alice.call(`${namespace}:pet`, { name: 'Tom', _select: 'id' });
      expect(json.structured_content).toEqual({ data: { pet: { id: '1' } } });
    }
    expect(service.requests.length - service.calls().length).toBeLessThanOrEqual(1);
  });
});

async function approveAll(path: string): Promise<void> {
  const { json } = await server.admin.get(`${path}/differences`);
  const definition_hashes = Object.fromEntries(
    json.differences.map((tool: Record<string, string>) => [tool['tool_id'], tool['definition_hash']]),
  );
  expect((await server.admin.post(`${path}/approve`, { definition_hashes })).status).toBe(200);
}

describe('[GQL-4] a registration', () => {
  test.each([
    ['without an endpoint', {}, 'graphql.endpoint'],
    ['with a key in the endpoint', { endpoint: 'https://a.example/graphql?api_key=1' }, 'graphql.endpoint'],
    ['with two schemas', { endpoint: 'https://a.example/graphql', url: 'https://a.example/s', text: 'x' }, 'graphql.text'],
    ['with a schema and introspection', { endpoint: 'https://a.example/graphql', text: 'x', introspection: true }, 'graphql.text'],
    ['with a field that there is not', { endpoint: 'https://a.example/graphql', depth: 3 }, 'graphql.depth'],
  ])('%s is refused with the field', async (_what, graphql, field) => {
    const { status, json } = await register(graphql);
    expect({ status, field: json.field }).toEqual({ status: 400, field });
  });

  test('is tried without being saved', async () => {
    const body = { name: 'Shop', source_type: 'graphql', graphql: { endpoint: service.endpoint } };
    const { json } = await server.admin.post('/api/sources/preview?discover=true', body);
    expect(json).toMatchObject({ import: { tools: 9, skipped_total: 1 } });
    expect(json.tools.map(({ name }: { name: string }) => name)).toContain('shop:addPet');
  });

  test('takes some of the tools, holds back changed ones, and limits all of them', async () => {
    const text = 'type Query { a: Int b: Int }';
    const more = { tools: { exclude: ['b'] }, pinning: 'quarantine', limits: { concurrency: 3 } };
    const { json, path, body, namespace } = await register({ endpoint: service.endpoint, text }, more);
    expect(json).toMatchObject({ definition: { pinning: 'quarantine', limits: { concurrency: 3 } } });
    expect(await toolsOf(namespace)).toEqual([]);
    await approveAll(path);
    expect(await toolsOf(namespace)).toEqual(['a']);
    await server.admin.put(path, { ...body, graphql: { endpoint: service.endpoint, text: 'type Query { a: String }' } });
    await until(async () => (await toolsOf(namespace)).length === 0);
  });
});
