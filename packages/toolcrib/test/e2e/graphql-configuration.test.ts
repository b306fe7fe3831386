import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { petSchema, startGraphqlService, type GraphqlService } from '../fixtures/graphql-service.ts';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { startTestServer, temporaryDirectory, until } from '../running-server.ts';

let server: OpenServer;
let service: GraphqlService;
beforeAll(async () => {
  [server, service] = await Promise.all([startOpenServer(), startGraphqlService()]);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const plan = (sources: object) => server.admin.post('/api/config/plan', { sources });
const apply = (sources: object) => server.admin.post('/api/config/apply', { sources });
const toolsOf = async (namespace: string) => (await server.alice.listedNames()).filter((name) => name.startsWith(`${namespace}:`)).sort();

test('[GQL-4] [SRC-6] a GraphQL service is planned, applied, changed and taken away as a file says', async () => {
  const pets = { source_type: 'graphql', graphql: { endpoint: service.endpoint }, tools: { include: [{ tags: ['mutation'] }] } };
  const { json: planned } = await plan({ pets });
  expect(planned.changes).toMatchObject([{ id: 'pets', action: 'create' }]);
  expect(planned.changes[0].fields).toContainEqual({ field: 'server_url', before: null, after: service.endpoint });
  expect((await apply({ pets })).json.changes).toMatchObject([{ outcome: 'done' }]);
  await until(async () => (await toolsOf('pets')).length === 1);
  expect(await toolsOf('pets')).toEqual(['pets:addPet']);
  expect((await plan({ pets })).json.changes).toEqual([]);
  const deeper = { ...pets, graphql: { ...pets.graphql, selection: { depth: 1 } } };
  expect((await plan({ pets: deeper })).json.changes).toMatchObject([
    { action: 'change', fields: [{ field: 'selection.depth', before: 2, after: 1 }] },
  ]);
  expect((await apply({})).json.changes).toMatchObject([{ id: 'pets', action: 'delete' }]);
});

test('a secret in a file is refused with its place', async () => {
  const pets = { source_type: 'graphql', graphql: { endpoint: service.endpoint }, credential: { type: 'bearer', token: 'a-secret' } };
  expect(await plan({ pets })).toMatchObject({ status: 400, json: { field: 'sources.pets.credential.token' } });
});

test('the path of a schema is relative to the configuration file', async () => {
  await using folder = await temporaryDirectory();
  await writeFile(join(folder.path, 'schema.graphql'), petSchema);
  const configFile = join(folder.path, 'toolcrib.yaml');
  const graphql = `{ endpoint: ${service.endpoint}, file: ./schema.graphql }`;
  await writeFile(configFile, `sources:\n  pets:\n    source_type: graphql\n    graphql: ${graphql}\n`);
  await using started = await startTestServer({ configFile });
  const admin = await started.as('admin');
  const pets = async () => (await admin.get('/api/sources/pets')).json;
  await until(async () => (await pets()).status.state !== 'starting');
  expect(await pets()).toMatchObject({
    status: { state: 'running', tools: 9 },
    definition: { document: { file: join(folder.path, 'schema.graphql') } },
  });
});
