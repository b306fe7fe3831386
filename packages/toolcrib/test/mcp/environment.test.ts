import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mcpDefinitionSchema } from '../../src/sources/mcp/mcp-definition.ts';
import { createRedactor } from '../../src/secrets/redactor.ts';
import type { SecretStore } from '../../src/secrets/secret-store.ts';
import {
  checkEnvironmentNames,
  createSourceFillIn,
  type EnvironmentInput,
  resolveEnvironment,
  resolveHeaders,
} from '../../src/sources/upstream/environment.ts';
import { openSecrets } from '../secrets/open-secrets.ts';

let secrets: SecretStore & AsyncDisposable;
beforeAll(async () => {
  secrets = await openSecrets({ 'github-token': 'hunter2-shared', 'mcp_s1.OWN_TOKEN': 'hunter2-own', broken: 'two\nlines' });
});
afterAll(() => secrets[Symbol.asyncDispose]());

const base = {
  PATH: '/usr/bin',
  HOME: '/home/crib',
  LANG: 'C.UTF-8',
  TMPDIR: '/tmp',
  TOOLCRIB_KEYS: 'k1:abc',
  AWS_SECRET_ACCESS_KEY: 'ours',
  EDITOR: 'vi',
};

function inputOf(more: Partial<EnvironmentInput> = {}): EnvironmentInput {
  return { secrets, sourceId: 's1', allowedNames: new Set(['EDITOR']), baseEnvironment: base, ...more };
}

const definitionOf = (fields: object) => mcpDefinitionSchema.parse(fields);
async function environmentOf(fields: object, more?: Partial<EnvironmentInput>): Promise<Record<string, string>> {
  const { base: ours, given } = await resolveEnvironment(definitionOf(fields), inputOf(more));
  return { ...ours, ...given };
}
const minimal = { PATH: '/usr/bin', HOME: '/home/crib', LANG: 'C.UTF-8', TMPDIR: '/tmp' };

describe('the environment of a child', () => {
  test('[ENV-3] is a minimal base if the source names nothing', async () => {
    expect(await environmentOf({})).toEqual(minimal);
  });

  test('[ENV-1] has registered values, secrets, filled-in values and declared variables of the manifest', async () => {
    const environment = {
      PLAIN: { value: 'production' },
      GITHUB_TOKEN: { secret_ref: 'github-token' },
      EDITOR: { value: '${EDITOR}' },
      ENDPOINT: { value: 'https://x.test/?key=${GITHUB_TOKEN}&env=${PLAIN}' },
    };
    const env_definitions = [{ name: 'OWN_TOKEN', required: true, secret: true }, { name: 'OPTIONAL' }];
    expect(await environmentOf({ environment, env_definitions })).toEqual({
      ...minimal,
      PLAIN: 'production',
      GITHUB_TOKEN: 'hunter2-shared',
      EDITOR: 'vi',
      ENDPOINT: 'https://x.test/?key=hunter2-shared&env=production',
      OWN_TOKEN: 'hunter2-own',
    });
  });

  test('[ENV-1] follows a changed secret', async () => {
    const fields = { environment: { TOKEN: { secret_ref: 'changing' } } };
    await secrets.put('changing', 'first-value');
    expect((await environmentOf(fields)).TOKEN).toBe('first-value');
    await secrets.put('changing', 'second-value');
    expect((await environmentOf(fields)).TOKEN).toBe('second-value');
  });

  test('[ENV-3] has nothing of ours in a real child', async () => {
    process.env.TOOLCRIB_TEST_CANARY = 'canary';
    const environment = await environmentOf({ environment: { A: { value: '1' } } }, { baseEnvironment: process.env });
    const { stdout } = await promisify(execFile)(process.execPath, ['-p', 'JSON.stringify(process.env)'], { env: environment });
    delete process.env.TOOLCRIB_TEST_CANARY;
    const seen = JSON.parse(stdout) as Record<string, string>;
    expect(seen).toMatchObject({ A: '1', PATH: process.env.PATH });
    expect(Object.keys(seen).filter((name) => !Object.hasOwn(environment, name) && name !== '__CF_USER_TEXT_ENCODING')).toEqual([]);
    expect(stdout).not.toContain('canary');
  });

  test('[ENV-3] does not include a variable of ours that is not allowed, even if it is named', async () => {
    const environment = { A: { value: '${AWS_SECRET_ACCESS_KEY}' } };
    await expect(environmentOf({ environment })).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'environment.A' });
  });

  test('refuses a zero byte', async () => {
    await expect(environmentOf({ environment: { A: { value: 'a\0b' } } })).rejects.toMatchObject({ field: 'environment.A' });
  });

  test('is filled in the same way as the fields of a source', async () => {
    const definition = definitionOf({ environment: { GITHUB_TOKEN: { secret_ref: 'github-token' } } });
    expect(await createSourceFillIn(definition, inputOf()).text('--token=${GITHUB_TOKEN}', 'command.1')).toBe('--token=hunter2-shared');
  });
});

describe('[SRC-10] the error "Missing required credentials"', () => {
  const required = (name: string, secret: boolean) => ({ env_definitions: [{ name: 'FINE' }, { name, required: true, secret }] });
  test.each([
    ['no value', required('TOKEN', true)],
    ['no value, and it is no secret', required('REGION', false)],
    ['an empty value', { ...required('TOKEN', false), environment: { TOKEN: { value: '  ' } } }],
    ['a secret that is not there', { ...required('TOKEN', true), environment: { TOKEN: { secret_ref: 'absent' } } }],
    ['a variable that is not there', { ...required('TOKEN', true), environment: { TOKEN: { value: '${TOKEN}' } } }],
  ])('is reported for %s', async (_what, fields) => {
    const name = fields.env_definitions[1]?.name;
    const error = { code: 'VALIDATION_ERROR', message: 'Missing required credentials', field: `environment.${name}` };
    await expect(environmentOf(fields)).rejects.toMatchObject(error);
    await expect(resolveHeaders(definitionOf(fields), inputOf())).rejects.toMatchObject(error);
  });

  test('names everything that is missing', async () => {
    const env_definitions = ['A', 'B'].map((name) => ({ name, required: true }));
    await expect(environmentOf({ env_definitions })).rejects.toMatchObject({ details: { missing: ['A', 'B'] } });
  });

  test('is not reported if the secrets cannot be read', async () => {
    const closed = await openSecrets({ TOKEN: 'hunter2' });
    closed.forget();
    await closed[Symbol.asyncDispose]();
    const error: unknown = await environmentOf(required('TOKEN', true), { secrets: closed }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toMatchObject({ message: 'Missing required credentials' });
  });
});

describe('[ENV-6] a variable name', () => {
  const check = (fields: object, options?: { allowRisky?: boolean }) => () => checkEnvironmentNames(definitionOf(fields), options);
  const value = { value: '1' };

  test.each([
    'NODE_OPTIONS',
    'node_options',
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'LD_',
    'DYLD_INSERT_LIBRARIES',
    'npm_config_registry',
    'NPM_CONFIG_NODE_OPTIONS',
  ])('such as %s is refused to everybody, wherever it is used', async (name) => {
    const refused = expect.objectContaining({ code: 'VALIDATION_ERROR', message: expect.stringContaining('no source may set it') });
    expect(check({ environment: { [name]: value } }, { allowRisky: true })).toThrow(refused);
    expect(check({ env_definitions: [{ name }] }, { allowRisky: true })).toThrow(refused);
    await expect(environmentOf({ environment: { [name]: value } })).rejects.toMatchObject({ field: `environment.${name}` });
  });

  test.each([
    'PYTHONPATH',
    'PYTHONSTARTUP',
    'PYTHONHOME',
    'PATH',
    'HOME',
    'NODE_PATH',
    'BASH_ENV',
    'RUBYOPT',
    'PERL5OPT',
    'JAVA_TOOL_OPTIONS',
    'UV_INDEX_URL',
    'PIP_INDEX_URL',
    'GIT_SSH_COMMAND',
    'BUN_CONFIG_REGISTRY',
    'XDG_CONFIG_DIRS',
    'XDG_CACHE_HOME',
    'PREFIX',
    'NODE_COMPILE_CACHE',
    'https_proxy',
    'REQUESTS_CA_BUNDLE',
    'JSR_URL',
    'COREPACK_NPM_REGISTRY',
    'SSH_SK_PROVIDER',
    'GIT_EXTERNAL_DIFF',
    'CONTAINERS_REGISTRIES_CONF',
    'BASH_LOADABLES_PATH',
    'BUNDLE_GEMFILE',
    'PERLLIB',
    'JAVA_HOME',
    'CORECLR_PROFILER_PATH',
    'LOCPATH',
    'CC',
    'KUBECONFIG',
  ])('such as %s needs the permission to run commands', async (name) => {
    expect(check({ environment: { [name]: value } })).toThrow(expect.objectContaining({ code: 'FORBIDDEN', field: `environment.${name}` }));
    expect(check({ environment: { [name]: value } }, { allowRisky: true })).not.toThrow();
    expect(await environmentOf({ environment: { [name]: value } })).toHaveProperty(name, '1');
  });

  test.each([
    'PYTHONUNBUFFERED',
    'PYTHONUTF8',
    'NODE_ENV',
    'GITHUB_TOKEN',
    'DOCKER_HUB_TOKEN',
    'GIT_AUTHOR_NAME',
    'UVICORN_PORT',
    'OLD_PATH',
    'a',
    '_A1',
  ])('such as %s may be set', (name) => {
    expect(check({ environment: { [name]: value } })).not.toThrow();
  });

  test.each(['', 'A=B', 'A B', '1A', 'A-B', 'Ä', 'A\0', 'A\n', 'x'.repeat(201)])('cannot be %j', (name) => {
    expect(check({ environment: { [name]: value } }, { allowRisky: true })).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  });
});

describe('[ENV-5] the headers of a remote server', () => {
  const headersOf = async (fields: object) =>
    (await resolveHeaders(definitionOf({ server_url: 'https://x.test', ...fields }), inputOf())).headers;

  test('come from variables', async () => {
    const environment = {
      API_KEY: { secret_ref: 'github-token' },
      BEARER_TOKEN: { value: 'abc' },
      MCP_HEADER_X_Y: { value: '${PLAIN}' },
      PLAIN: { value: 'not a header itself' },
    };
    expect(await headersOf({ environment })).toEqual({
      'X-API-Key': 'hunter2-shared',
      Authorization: 'Bearer abc',
      'X-Y': 'not a header itself',
    });
  });

  test('give way to explicit ones, in any spelling', async () => {
    const environment = { BEARER_TOKEN: { value: 'abc' }, API_KEY: { value: 'def' } };
    const headers = { authorization: { value: 'Basic ${github-token}' }, 'X-Other': { value: 'x' } };
    expect(await headersOf({ environment, headers })).toEqual({
      authorization: 'Basic hunter2-shared',
      'X-API-Key': 'def',
      'X-Other': 'x',
    });
  });

  test.each([
    'Host',
    'connection',
    'Transfer-Encoding',
    'TE',
    'Upgrade',
    'Proxy-Authorization',
    'Content-Length',
    'Mcp-Session-Id',
    'a b',
    'a:b',
    '',
    'a\r\nb',
  ])('cannot have the name %j', async (name) => {
    await expect(headersOf({ headers: { [name]: { value: 'x' } } })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      field: `headers.${name}`,
    });
  });

  test('cannot come from a variable if the header is forbidden', async () => {
    const environment = { MCP_HEADER_TRANSFER_ENCODING: { value: 'chunked' } };
    await expect(headersOf({ environment })).rejects.toMatchObject({ field: 'environment.MCP_HEADER_TRANSFER_ENCODING' });
  });

  test('cannot have the same name twice', async () => {
    await expect(headersOf({ headers: { 'X-A': { value: '1' }, 'x-a': { value: '2' } } })).rejects.toMatchObject({ field: 'headers.x-a' });
  });

  test.each(['a\r\nX-Evil: 1', 'a\n', 'a\0', 'ключ'])('cannot have the value %j, which is not repeated', async (value) => {
    for (const fields of [{ headers: { 'X-A': { value } } }, { environment: { API_KEY: { value } } }]) {
      const error: unknown = await headersOf(fields).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'VALIDATION_ERROR' });
      expect((error as Error).message).not.toContain(value);
    }
  });

  test('cannot have a secret with a line break', async () => {
    await expect(headersOf({ headers: { 'X-A': { secret_ref: 'broken' } } })).rejects.toMatchObject({ field: 'headers.X-A' });
  });
});

test('[ENV-4] secrets, and values that are secret by declaration or name, are known for redaction', async () => {
  const redactor = createRedactor();
  const environment = {
    GITHUB_TOKEN: { secret_ref: 'github-token' },
    DECLARED: { value: 'declared-secret' },
    SLACK_TOKEN: { value: 'xoxb-outright' },
    USE_API_KEY: { value: 'true' },
    REGION: { value: 'eu-central-1' },
  };
  const env_definitions = [{ name: 'DECLARED', secret: true }];
  await environmentOf({ environment, env_definitions }, { redactor: redactor.forSource('s1') });
  expect(redactor.redact('hunter2-shared declared-secret xoxb-outright true eu-central-1')).toBe('*** *** *** true eu-central-1');
});
