import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { egressFrom } from '../../src/cli/egress-from.ts';
import { parseCommandLine } from '../../src/cli/parse-command-line.ts';
import { withConfigFile } from '../../src/cli/read-config-file.ts';
import { serveConfig } from '../../src/cli/serve-config.ts';
import { serve } from '../../src/cli/serve.ts';
import { UsageError } from '../../src/model/usage-error.ts';
import { temporaryDirectory } from '../running-server.ts';

function configFor(args: string[], env: Record<string, string> = {}) {
  const given = parseCommandLine(serve, args, env);
  if (given === 'help') throw new Error('Nobody asked for help');
  return serveConfig(given, { production: env.NODE_ENV === 'production' });
}

test('[CLI-1] the default is development on loopback', () => {
  expect(configFor([])).toEqual({
    host: '127.0.0.1',
    port: 7300,
    threads: 1,
    demo: true,
    dataDir: resolve('.toolcrib'),
    issuers: [],
    allowedEnvironment: [],
    allowedMounts: [],
    adminMatcher: { path: 'realm_access.roles', operator: 'contains', value: 'toolcrib-admin' },
    runMatcher: { path: 'realm_access.roles', operator: 'contains', value: 'toolcrib-run' },
    allowedHosts: [],
    allowedOrigins: [],
    trustedProxies: [],
    bodyLimitBytes: 1_048_576,
    principalLimits: { rate_per_second: 100, burst: 200, concurrency: 100 },
    registries: { official: 'https://registry.modelcontextprotocol.io', smithery: 'https://registry.smithery.ai' },
    requestLimits: { rate_per_second: 20, burst: 200 },
    defaultTimeoutMs: 30_000,
    maxTimeoutMs: 600_000,
    drainMs: 25_000,
    retentionDays: 90,
    auditRetentionDays: 400,
    responseBytes: 1_048_576,
    artifactDays: 7,
    artifactBytes: 268_435_456,
    logLevel: 'info',
  });
});

test('[CLI-1] an option wins over its variable, and that over the default', () => {
  const env = { TOOLCRIB_PORT: '1', TOOLCRIB_DATA: '/from/env', TOOLCRIB_LOG_LEVEL: 'warn', TOOLCRIB_HOST: '' };
  expect(configFor(['--port', '2', '--log-level=debug'], env)).toMatchObject({
    port: 2,
    dataDir: resolve('/from/env'),
    logLevel: 'debug',
    host: '127.0.0.1',
  });
});

const issuer = ['--issuer', 'https://a.example'];
const parsed: [args: string[], env: Record<string, string>, expected: object][] = [
  [['--threads', '4'], {}, { threads: 4 }],
  [[], { TOOLCRIB_THREADS: '2' }, { threads: 2 }],
  [['--journal', 'off'], {}, { journal: false }],
  [['--fsync'], {}, { fsync: true }],
  [['--fsync', '--database', 'postgres://crib@db/crib'], { TOOLCRIB_JOURNAL: 'on' }, { journal: true, fsync: true }],
  [['--principal-rate', '0'], {}, { principalLimits: { concurrency: 100 } }],
  [['--principal-concurrency', '0', '--principal-rate', '0.5'], {}, { principalLimits: { rate_per_second: 0.5, burst: 200 } }],
  [['--run-claim', 'groups=/runners'], {}, { runMatcher: { path: 'groups', operator: 'contains', value: '/runners' } }],
  [['--admin-claim', 'groups=/a=b'], {}, { adminMatcher: { path: 'groups', operator: 'contains', value: '/a=b' } }],
  [[], { TOOLCRIB_ADMIN_CLAIM: '/https:~1~1acme.io~1role=ops' }, { adminMatcher: { path: '/https:~1~1acme.io~1role', value: 'ops' } }],
  [[...issuer, '--allowed-host', 'Crib.example', '--allowed-host', 'b:8080'], {}, { allowedHosts: ['crib.example', 'b:8080'] }],
  [issuer, { TOOLCRIB_ALLOWED_HOSTS: 'a, b:80,' }, { allowedHosts: ['a', 'b'] }],
  [
    issuer,
    { TOOLCRIB_ALLOWED_ORIGINS: 'https://a.example,http://localhost:5173' },
    { allowedOrigins: ['https://a.example', 'http://localhost:5173'] },
  ],
  [['--trusted-proxy', '10.0.0.0/24', '--trusted-proxy', '::1'], {}, { trustedProxies: ['10.0.0.0/24', '::1'] }],
  [['--allow-mount', '/srv/a/', '--allow-mount', '/srv/x/../b'], {}, { allowedMounts: ['/srv/a/', '/srv/b'] }],
  [[], { TOOLCRIB_ALLOWED_MOUNTS: '/srv/a, /srv/b' }, { allowedMounts: ['/srv/a', '/srv/b'] }],
  [['--allow-network', '10.0.0.0/8', '--allow-network', '*.corp'], {}, { allowedNetworks: ['10.0.0.0/8', '*.corp'] }],
  [[], { TOOLCRIB_ALLOWED_NETWORKS: 'loopback, db.corp' }, { allowedNetworks: ['loopback', 'db.corp'] }],
  [['--no-proxy', 'corp'], { TOOLCRIB_PROXY: 'http://u:p@proxy:3128' }, { proxy: 'http://u:p@proxy:3128', noProxy: ['corp'] }],
  [[], { DOCKER_HOST: 'tcp://docker.example:2376' }, { dockerHost: 'tcp://docker.example:2376' }],
  [['--docker-host', 'unix:///run/x.sock'], { DOCKER_HOST: 'tcp://a:1' }, { dockerHost: 'unix:///run/x.sock' }],
  [['--database', 'postgres://u:p@db/crib'], {}, { databaseUrl: 'postgres://u:p@db/crib' }],
  [['--host', '::1'], {}, { host: '::1', issuers: [] }],
  [['--host', 'localhost'], {}, { host: 'localhost' }],
  [
    ['--issuer', 'https://a.example', '--audience', 'crib', '--host', '0.0.0.0'],
    { NODE_ENV: 'production', TOOLCRIB_ISSUERS: 'https://ignored.example' },
    { host: '0.0.0.0', issuers: [{ issuer: 'https://a.example', audience: 'crib' }] },
  ],
  [
    ['--allow-insecure-issuer'],
    { TOOLCRIB_ISSUERS: ' http://a.example ', TOOLCRIB_AUDIENCE: 'crib' },
    { issuers: [{ issuer: 'http://a.example', audience: 'crib', allow_insecure: true }] },
  ],
  [
    [],
    {
      TOOLCRIB_ISSUERS:
        '[{"issuer": "https://a.example", "audience": ["x", "y"], "algorithms": ["ES256"], "admin_claim": "groups=ops"}, {"issuer": "https://b.example"}]',
    },
    {
      issuers: [
        { issuer: 'https://a.example', audience: ['x', 'y'], algorithms: ['ES256'], admin_claim: 'groups=ops' },
        { issuer: 'https://b.example', audience: 'toolcrib-gateway' },
      ],
    },
  ],
];

test.each(parsed)('[CLI-1] %j with %j gives the expected configuration', (args, env, expected) => {
  expect(configFor(args, env)).toMatchObject(expected);
});

describe('[SRC-6] the server section of a file', () => {
  async function configWith(text: string, args: string[] = [], env: Record<string, string> = {}) {
    await using folder = await temporaryDirectory();
    const path = join(folder.path, 'crib.yaml');
    await writeFile(path, text);
    const given = parseCommandLine(serve, ['--config', path, ...args], env);
    if (given === 'help') throw new Error('Nobody asked for help');
    try {
      return serveConfig(await withConfigFile(given), { production: false });
    } catch (error) {
      throw new Error((error as Error).message.replaceAll(path, 'crib.yaml'), { cause: error });
    }
  }

  const settings = `server:
  port: 81
  log_level: warn
  no_demo: true
  allowed_hosts: [a.example, b.example]
  principal_rate: 0.5
  audience: crib
  issuers:
    - https://a.example
    - {issuer: https://b.example, audience: [x, y], algorithms: [ES256], admin_claim: groups=ops}
`;

  test('takes the same settings as the options', async () => {
    expect(await configWith(settings)).toMatchObject({
      port: 81,
      logLevel: 'warn',
      demo: false,
      allowedHosts: ['a.example', 'b.example'],
      principalLimits: { rate_per_second: 0.5 },
      issuers: [
        { issuer: 'https://a.example', audience: 'crib' },
        { issuer: 'https://b.example', audience: ['x', 'y'], algorithms: ['ES256'], admin_claim: 'groups=ops' },
      ],
    });
    expect(await configWith('server: {admin_claim: groups=ops}')).toMatchObject({ adminMatcher: { path: 'groups', value: 'ops' } });
  });

  test('is overridden by options and variables', async () => {
    const env = { TOOLCRIB_LOG_LEVEL: 'error', TOOLCRIB_ISSUERS: 'https://c.example' };
    expect(await configWith(settings, ['--port', '82', '--allowed-host', 'c.example'], env)).toMatchObject({
      port: 82,
      logLevel: 'error',
      allowedHosts: ['c.example'],
      issuers: [{ issuer: 'https://c.example', audience: 'crib' }],
    });
  });

  const misfits: [text: string, message: string][] = [
    ['server: {port: 65536}', 'crib.yaml:1:10: server.port must be a whole number from 0 to 65535, not "65536"'],
    ['server: {log_level: loud}', 'crib.yaml:1:10: server.log_level must be one of'],
    ['server: {issuers: ["https://a.example"], allowed_hosts: ["a/b"]}', 'crib.yaml:1:42: server.allowed_hosts must be a host name'],
    ['server: {issuers: [{issuer: "http://a.example"}]}', 'crib.yaml:1:10: server.issuers: the address is plain http'],
    ['server: {database: "postgres://u:p@db/crib"}', 'crib.yaml:1:10: server.database: there is no such field'],
    ['server: {proxy: "http://u:p@proxy.example"}', 'crib.yaml:1:10: server.proxy: contains a password'],
    ['server: {keys: k}', 'crib.yaml:1:10: server.keys: there is no such field'],
    ['server: {no_demo: 1}', 'crib.yaml:1:10: server.no_demo: Invalid input'],
  ];
  test.each(misfits)('is refused with the position of the mistake: %s', async (text, message) => {
    await expect(configWith(text)).rejects.toThrow(message);
  });
});

const refused: [args: string[], env: Record<string, string>, message: string][] = [
  [['--allow-network', '10.0.0.1/8'], {}, '--allow-network: "10.0.0.1/8" is not a network: give an address, a range'],
  [[], { TOOLCRIB_ALLOWED_NETWORKS: 'https://db.corp' }, 'TOOLCRIB_ALLOWED_NETWORKS: "https://db.corp" is not a network'],
  [[], { TOOLCRIB_PROXY: 'proxy:3128' }, 'TOOLCRIB_PROXY: The proxy must be an address such as http://proxy.example.org:3128'],
  [['--ca-file', '/nowhere.pem'], {}, '--ca-file: The certificates in /nowhere.pem cannot be used'],
  [['--port', '65536'], {}, '--port must be a whole number from 0 to 65535, not "65536"'],
  [['--port=-1'], {}, '--port must be a whole number'],
  [['--port', '1e3'], {}, '--port must be a whole number'],
  [[], { TOOLCRIB_PORT: 'abc' }, 'TOOLCRIB_PORT must be a whole number from 0 to 65535, not "abc"'],
  [['--host', '127.0.0.1:80'], {}, '--host must be an IP address or a host name, without a port'],
  [['--host', 'localhost/x'], {}, '--host must be an IP address or a host name'],
  [['--host', 'me@localhost'], {}, '--host must be an IP address or a host name'],
  [['--database', 'mysql://u:secret@db/x'], {}, '--database must look like postgres://user:password@host:5432/database'],
  [['--issuer', 'nonsense'], {}, '--issuer: the address must be an http or https address'],
  [['--issuer', 'http://sso.example'], {}, 'plain http on another machine: use https, or pass --allow-insecure-issuer'],
  [['--issuer', 'https://a.example', '--issuer', 'https://a.example'], {}, '--issuer names https://a.example twice'],
  [[], { TOOLCRIB_ISSUERS: '{"issuer": "https://a.example"}' }, 'TOOLCRIB_ISSUERS must be a JSON list of issuer configurations'],
  [[], { TOOLCRIB_ISSUERS: '[1' }, 'TOOLCRIB_ISSUERS must be a JSON list of issuer configurations'],
  [[], { TOOLCRIB_ISSUERS: '[{"issuer": "https://a.example", "algorithms": ["HS256"]}]' }, 'TOOLCRIB_ISSUERS: algorithms.0'],
  [[], { TOOLCRIB_ISSUERS: '[{"issuer": "https://a.example", "admin_claim": "x"}]' }, 'admin_claim must be path=value'],
  [['--issuer', 'https://a.example', '--issuer', 'https://b.example'], {}, 'none names its administrators: write admin_claim'],
  [[], { TOOLCRIB_ISSUERS: 'https://a.example https://b.example' }, 'such as {"issuer":"https://a.example","admin_claim":'],
  [
    ['--admin-claim', 'groups=ops', '--issuer', 'https://a.example', '--issuer', 'https://b.example'],
    {},
    '--admin-claim does not say for which issuer: write admin_claim into the entry of that issuer',
  ],
  [
    [],
    {
      TOOLCRIB_RUN_CLAIM: 'groups=ops',
      TOOLCRIB_ISSUERS: '[{"issuer": "https://a.example", "admin_claim": "x=y"}, {"issuer": "https://b"}]',
    },
    'TOOLCRIB_RUN_CLAIM does not say for which issuer',
  ],
  [['--run-claim', 'roles'], {}, '--run-claim must be path=value, such as realm_access.roles=toolcrib-run'],
  [['--admin-claim', 'roles'], {}, '--admin-claim must be path=value, such as realm_access.roles=toolcrib-admin'],
  [[...issuer, '--allowed-host', 'https://a.example'], {}, '--allowed-host must be a host name, or name:port, not "https://a.example"'],
  [[...issuer, '--allowed-origin', 'https://a.example/x'], {}, '--allowed-origin must be like https://console.example.org'],
  [[...issuer, '--allowed-origin', '*'], {}, '--allowed-origin must be like'],
  [['--trusted-proxy', 'proxy.corp'], {}, '--trusted-proxy must be an address or a range'],
  [['--trusted-proxy', '0.0.0.0/0'], {}, '--trusted-proxy must be an address or a range'],
  [['--trusted-proxy', '10.0.0.0/33'], {}, '--trusted-proxy must be an address or a range'],
  [['--allow-mount', 'srv'], {}, '--allow-mount must be the absolute path of a folder, such as /srv/mcp, not "srv"'],
  [['--allow-mount', '/srv/..'], {}, '--allow-mount must be the absolute path'],
  [[], { TOOLCRIB_ALLOWED_MOUNTS: '/' }, 'TOOLCRIB_ALLOWED_MOUNTS must be the absolute path'],
  [[], { DOCKER_HOST: '/var/run/docker.sock' }, 'DOCKER_HOST must be an address such as unix:///var/run/docker.sock'],
  [['--body-limit', '0'], {}, '--body-limit must be a whole number from 1'],
  [['--principal-burst', '1.5'], {}, '--principal-burst must be a whole number'],
  [['--principal-rate', 'fast'], {}, '--principal-rate must be a number from 0'],
  [['--timeout', '10', '--max-timeout', '9'], {}, '--max-timeout must not be shorter than --timeout'],
  [['--retention', '0'], {}, '--retention must be a whole number from 1'],
  [['--log-level', 'loud'], {}, '--log-level must be one of fatal, error, warn, info, debug, trace, silent'],
];

test.each(refused)('[CLI-1] %j with %j is refused, and the option or variable is named', (args, env, message) => {
  expect(() => configFor(args, env)).toThrow(UsageError);
  expect(() => configFor(args, env)).toThrow(message);
});

test('[CLI-1] the password in a database address is not repeated', () => {
  expect(() => configFor(['--database', 'mysql://u:secret@db/x'])).not.toThrow('secret');
});

describe('without an issuer', () => {
  test.each(['0.0.0.0', '::', '192.168.1.5', 'crib.example', '127.0.0.1.example'])('[ID-1] the server does not start on %s', (host) => {
    expect(() => configFor(['--host', host])).toThrow(/only on a loopback address.*pass --issuer/);
  });

  test.each<[args: string[], env: Record<string, string>, named: string]>([
    [['--public-url', 'https://crib.example'], {}, '--public-url'],
    [['--allowed-host', 'crib.example'], {}, '--allowed-host'],
    [['--allowed-origin', 'https://crib.example'], {}, '--allowed-origin'],
    [[], { TOOLCRIB_PUBLIC_URL: 'https://crib.example' }, 'TOOLCRIB_PUBLIC_URL'],
  ])('[ID-1] %j with %j is refused, because others would reach a server meant for one person', (args, env, named) => {
    expect(() => configFor(args, env)).toThrow(UsageError);
    expect(() => configFor(args, env)).toThrow(new RegExp(`^${named} opens the server.*leave it out, or pass --issuer`));
  });

  test('[ID-1] the server does not start in production', () => {
    expect(() => configFor([], { NODE_ENV: 'production' })).toThrow(/NODE_ENV is production: pass --issuer/);
  });
});

describe('a proxy in the environment', () => {
  const egress = (args: string[], environment: Record<string, string>) => {
    const given = parseCommandLine(serve, args, {});
    if (given === 'help') throw new Error('Nobody asked for help');
    return egressFrom(given, environment);
  };
  const environment = { HTTPS_PROXY: 'http://a:1', http_proxy: 'http://b:2', NO_PROXY: 'localhost, .corp' };

  test('[CLI-1] is used only when an option says so', () => {
    expect(egress([], environment)).toEqual({});
    expect(egress(['--proxy', 'env', '--no-proxy', 'x'], environment)).toEqual({
      proxy: 'http://a:1',
      noProxy: ['x', 'localhost', '.corp'],
    });
    expect(egress(['--proxy', 'env'], { http_proxy: 'http://b:2', no_proxy: 'corp' })).toEqual({ proxy: 'http://b:2', noProxy: ['corp'] });
    expect(egress(['--proxy', 'env'], {})).toEqual({});
  });
});

describe('[OPS-1] the metrics endpoint', () => {
  test('takes its token from a file or the variable, and can have its own address', async () => {
    await using folder = await temporaryDirectory();
    const file = join(folder.path, 'token');
    await writeFile(file, 'a-token-of-the-operator\n');
    expect(configFor(['--metrics-token', file, '--metrics-listen', '[::1]:9464'])).toMatchObject({
      metricsToken: 'a-token-of-the-operator',
      metricsListen: { host: '::1', port: 9464 },
    });
    expect(configFor([], { TOOLCRIB_METRICS_TOKEN: 'a-token-of-the-operator', TOOLCRIB_METRICS_LISTEN: '127.0.0.1:0' })).toMatchObject({
      metricsToken: 'a-token-of-the-operator',
      metricsListen: { host: '127.0.0.1', port: 0 },
    });
    await writeFile(file, 'short\n');
    expect(() => configFor(['--metrics-token', file])).toThrow('must hold a token of at least 16 visible characters');
  });

  test.each([
    [['--metrics-token', '/nowhere/token'], /--metrics-token must be the path of a file/],
    [['--metrics-listen', '9464'], /--metrics-listen must be host:port/],
    [['--metrics-listen', '127.0.0.1:99999'], /--metrics-listen must be host:port/],
  ])('is refused with %j', (args, message) => expect(() => configFor(args)).toThrow(message));
});

test('[EXEC-7] the rate limits of searches and registrations can be switched off', () => {
  expect(configFor(['--request-rate', '0']).requestLimits).toEqual({});
  expect(configFor(['--request-rate', '2', '--request-burst', '5']).requestLimits).toEqual({ rate_per_second: 2, burst: 5 });
});
