import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeSource } from '../../src/cli/describe-source.ts';
import type { ShownSource } from '../../src/cli/source-client.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { DockerEngine, inImage, type TestContainer } from '../fixtures/docker-engine.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { part } from '../parts.ts';
import { startTestServer, type TestServer } from '../running-server.ts';

const docker = part('docker');
const image = docker.available ? docker.url : '';
const engine = new DockerEngine();

describe.skipIf(!docker.available)('a source in a container', () => {
  let server: TestServer;
  let admin: ApiClient;
  let somebodys: TestContainer;
  beforeAll(async () => {
    [server, somebodys] = await Promise.all([startTestServer(), engine.runContainer(image)]);
    admin = await server.as('admin');
    await grantEverything(admin);
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await somebodys[Symbol.asyncDispose]();
  });

  const inside = (name: string, fields: object) => ({
    name,
    mcp_container: { container: somebodys.name, command: inImage.fixture('plain'), ...fields },
  });

  test('[SRC-3] [ENV-4] can be registered, called, replaced without its secrets, and shown', async () => {
    const env = { INSIDE_TOKEN: 'a-secret-of-its-own', LEVEL: 'info' };
    const form = inside('Inside', { env, user: '1000:1000', workdir: '/app' });
    const { json } = await admin.post('/api/sources?wait=60000', form);
    expect(json).toMatchObject({
      status: { state: 'running' },
      definition: { environment: { INSIDE_TOKEN: '***', LEVEL: 'info' }, container: { name: somebodys.name, user: '1000:1000' } },
    });
    const seen = async () => (await admin.call('inside:digest', { name: 'INSIDE_TOKEN' })).json.text as string;
    const before = await seen();
    const again = inside('Inside', { env: { ...json.definition.environment, LEVEL: 'debug' }, workdir: '/app' });
    expect((await admin.put(`/api/sources/${json.id}`, again)).status).toBe(200);
    expect(await seen()).toBe(before);
    const shown = (await admin.get(`/api/sources/${json.id}`)).json as ShownSource;
    expect(describeSource(shown)).toMatch(new RegExp(`Folder +/app\\nContainer +${somebodys.name}\\n`));
    await admin.delete(`/api/sources/${json.id}`);
  });
});

test('[SRC-3] a source is described with the container that is made for it, and its limits', () => {
  const settings = {
    limits: { memory_mb: 256, cpus: 0.5, pids: 64 },
    network: 'bridge',
    read_only: true,
    mounts: [{ source: '/srv/files', target: '/files', read_only: false }],
  };
  const definition = { command: ['tickets'], container: { name: null, image: 'tickets:1', workdir: null, user: 'node', settings } };
  const source = { name: 'Tickets', namespace: 'tickets', id: 'x', status: { state: 'running' }, health: 'healthy', breaker: 'closed' };
  const text = describeSource({ ...source, enabled: true, source_type: 'mcp', server: null, waiting: 0, outdated_secrets: [], definition });
  expect(text.replaceAll(/ {2,}/g, ' ')).toContain(
    [
      'Image tickets:1',
      'Limits 256 MiB, cpus 0.5, 64 processes, network bridge, its files can only be read',
      'Mount /srv/files:/files:rw',
    ].join('\n'),
  );
});
