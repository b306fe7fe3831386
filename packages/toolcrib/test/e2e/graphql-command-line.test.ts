import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addRegistration } from '../../src/cli/add-registration.ts';
import { add } from '../../src/cli/add.ts';
import type { Given } from '../../src/cli/given.ts';
import { parseCommandLine } from '../../src/cli/parse-command-line.ts';
import { sourceFormSchema } from '../../src/sources/source-forms.ts';
import { startSourceCommands } from '../cli/source-commands.ts';
import { ApiClient } from '../fixtures/api-client.ts';
import { petSchema, startGraphqlService, type GraphqlService } from '../fixtures/graphql-service.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { devToken, temporaryDirectory, type TemporaryDirectory } from '../running-server.ts';

let folder: TemporaryDirectory;
let commands: Awaited<ReturnType<typeof startSourceCommands>>;
let service: GraphqlService;
beforeAll(async () => {
  [folder, commands, service] = await Promise.all([temporaryDirectory(), startSourceCommands(), startGraphqlService()]);
});
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** What `toolcrib add` would register. */
function registration(args: string[], variables: Record<string, string> = {}) {
  const form = addRegistration(parseCommandLine(add, args, {}) as Given).formWith(variables);
  sourceFormSchema.parse(form);
  return form;
}
async function file(name: string, content: string): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, content);
  return path;
}
const endpoint = 'https://api.example.org/graphql';

describe('the command line for GraphQL', () => {
  test('an address that ends in /graphql is an endpoint, and any other is one if that is said', () => {
    expect(registration([endpoint], { BEARER_TOKEN: 'abc' })).toEqual({
      name: 'example',
      source_type: 'graphql',
      graphql: { endpoint },
      credential: { type: 'bearer', token: 'abc' },
    });
    expect(registration(['https://api.example.org/query', '--graphql'])).toMatchObject({
      graphql: { endpoint: 'https://api.example.org/query' },
    });
  });

  test('a schema is a file here or an address, and needs an endpoint', async () => {
    const path = await file('schema.graphql', petSchema);
    const sizes = ['--selection-depth', '1', '--selection-fields', '20'];
    expect(registration([path, '--endpoint', endpoint, ...sizes])).toMatchObject({
      graphql: { endpoint, text: petSchema, selection: { depth: 1, fields: 20 } },
    });
    expect(registration(['https://docs.example.org/schema.graphql', '--endpoint', endpoint])).toMatchObject({
      graphql: { endpoint, url: 'https://docs.example.org/schema.graphql' },
    });
    const introspection = await file('schema.json', '{"data": {"__schema": {"types": []}}}');
    expect(() => registration([introspection])).toThrow('A schema does not say where its service is: add --endpoint');
    expect(() => registration([path, '--origin', 'x', '--endpoint', endpoint])).toThrow(
      '--origin is for OpenAPI services, not for GraphQL services',
    );
  });
});

test('a service is added, shown, called and tried on the command line', async () => {
  const added = await commands.run(['add', service.endpoint, '--name', 'pets', '--exclude', 'slow']);
  expect({ code: added.code, stderr: added.stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(/GraphQL introspection: 10 operations, 9 tools, 1 skipped/),
  });
  expect(added.stderr).toContain('skipped subscription petAdded');
  expect(added.stdout).toMatch(/^pets:addPet/m);
  expect(added.stdout).not.toContain('slow');
  const shown = await commands.run(['sources', 'show', 'pets']);
  expect(shown.stdout).toContain(service.endpoint);
  expect(shown.stdout).toMatch(/Import +GraphQL introspection: 10 operations/);
  const { url } = commands.server;
  await grantEverything(new ApiClient(url, await devToken(url, 'admin')));
  const called = await commands.run(['call', 'pets:pet', '--arg', 'name=Tom', '--arg', '_select={ name }']);
  expect(called.stdout).toContain('Tom');
  const tried = await commands.run([
    'add',
    await file('pets.graphql', petSchema),
    '--endpoint',
    service.endpoint,
    '--name',
    'again',
    '--dry-run',
  ]);
  expect({ code: tried.code, stderr: tried.stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining('It would have 9 tools. Nothing is saved.'),
  });
});
