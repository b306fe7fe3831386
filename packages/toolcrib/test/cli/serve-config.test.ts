import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseCommandLine } from '../../src/cli/parse-command-line.ts';
import { serveConfig } from '../../src/cli/serve-config.ts';
import { serve } from '../../src/cli/serve.ts';
import { UsageError } from '../../src/cli/usage-error.ts';

function configFor(args: string[], env: Record<string, string> = {}) {
  const given = parseCommandLine(serve, args, env);
  if (given === 'help') throw new Error('Nobody asked for help');
  return serveConfig(given, { production: env.NODE_ENV === 'production' });
}

test('[CLI-1] nothing given is development on loopback', () => {
  expect(configFor([])).toEqual({
    host: '127.0.0.1',
    port: 7300,
    demo: true,
    dataDir: resolve('.toolcrib'),
    issuers: [],
    allowedEnvironment: [],
    allowedMounts: [],
    adminMatcher: { path: 'realm_access.roles', operator: 'contains', value: 'toolcrib-admin' },
    allowedHosts: [],
    allowedOrigins: [],
    bodyLimitBytes: 1_048_576,
    principalLimits: { rate_per_second: 100, burst: 200, concurrency: 100 },
    defaultTimeoutMs: 30_000,
    maxTimeoutMs: 600_000,
    drainMs: 25_000,
    retentionDays: 90,
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

const parsed: [args: string[], env: Record<string, string>, expected: object][] = [
  [['--principal-rate', '0'], {}, { principalLimits: { concurrency: 100 } }],
  [['--principal-concurrency', '0', '--principal-rate', '0.5'], {}, { principalLimits: { rate_per_second: 0.5, burst: 200 } }],
  [['--admin-claim', 'groups=/a=b'], {}, { adminMatcher: { path: 'groups', operator: 'contains', value: '/a=b' } }],
  [[], { TOOLCRIB_ADMIN_CLAIM: '/https:~1~1acme.io~1role=ops' }, { adminMatcher: { path: '/https:~1~1acme.io~1role', value: 'ops' } }],
  [['--allowed-host', 'Crib.example', '--allowed-host', 'b:8080'], {}, { allowedHosts: ['crib.example', 'b:8080'] }],
  [[], { TOOLCRIB_ALLOWED_HOSTS: 'a, b:80,' }, { allowedHosts: ['a', 'b'] }],
  [
    [],
    { TOOLCRIB_ALLOWED_ORIGINS: 'https://a.example,http://localhost:5173' },
    { allowedOrigins: ['https://a.example', 'http://localhost:5173'] },
  ],
  [['--allow-mount', '/srv/a/', '--allow-mount', '/srv/x/../b'], {}, { allowedMounts: ['/srv/a/', '/srv/b'] }],
  [[], { TOOLCRIB_ALLOWED_MOUNTS: '/srv/a, /srv/b' }, { allowedMounts: ['/srv/a', '/srv/b'] }],
  [[], { DOCKER_HOST: 'tcp://docker.example:2376' }, { dockerHost: 'tcp://docker.example:2376' }],
  [['--docker-host', 'unix:///run/x.sock'], { DOCKER_HOST: 'tcp://a:1' }, { dockerHost: 'unix:///run/x.sock' }],
  [['--database', 'postgres://u:p@db/crib'], {}, { databaseUrl: 'postgres://u:p@db/crib' }],
  [['--host', '::1'], {}, { host: '::1', issuers: [] }],
  [['--host', 'localhost'], {}, { host: 'localhost' }],
  [
    ['--issuer', 'https://a.example', '--issuer', 'https://b.example', '--audience', 'crib', '--host', '0.0.0.0'],
    { NODE_ENV: 'production', TOOLCRIB_ISSUERS: 'https://ignored.example' },
    {
      host: '0.0.0.0',
      issuers: [
        { issuer: 'https://a.example', audience: 'crib' },
        { issuer: 'https://b.example', audience: 'crib' },
      ],
    },
  ],
  [
    ['--allow-insecure-issuer'],
    { TOOLCRIB_ISSUERS: ' http://a.example  https://b.example ', TOOLCRIB_AUDIENCE: 'crib' },
    {
      issuers: [
        { issuer: 'http://a.example', audience: 'crib', allow_insecure: true },
        { issuer: 'https://b.example', audience: 'crib', allow_insecure: true },
      ],
    },
  ],
  [
    [],
    {
      TOOLCRIB_ISSUERS:
        '[{"issuer": "https://a.example", "audience": ["x", "y"], "algorithms": ["ES256"]}, {"issuer": "https://b.example"}]',
    },
    {
      issuers: [
        { issuer: 'https://a.example', audience: ['x', 'y'], algorithms: ['ES256'] },
        { issuer: 'https://b.example', audience: 'toolcrib-gateway' },
      ],
    },
  ],
];

test.each(parsed)('[CLI-1] %j with %j', (args, env, expected) => {
  expect(configFor(args, env)).toMatchObject(expected);
});

const refused: [args: string[], env: Record<string, string>, message: string][] = [
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
  [['--admin-claim', 'roles'], {}, '--admin-claim must be path=value, such as realm_access.roles=toolcrib-admin'],
  [['--allowed-host', 'https://a.example'], {}, '--allowed-host must be a host name, or name:port, not "https://a.example"'],
  [['--allowed-origin', 'https://a.example/x'], {}, '--allowed-origin must be like https://console.example.org'],
  [['--allowed-origin', '*'], {}, '--allowed-origin must be like'],
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

test.each(refused)('[CLI-1] %j with %j is refused, and the option or variable named', (args, env, message) => {
  expect(() => configFor(args, env)).toThrow(UsageError);
  expect(() => configFor(args, env)).toThrow(message);
});

test('[CLI-1] the password in a database address is not repeated', () => {
  expect(() => configFor(['--database', 'mysql://u:secret@db/x'])).not.toThrow('secret');
});

describe('without an issuer', () => {
  test.each(['0.0.0.0', '::', '192.168.1.5', 'crib.example', '127.0.0.1.example'])('[ID-1] the server does not start on %s', (host) => {
    expect(() => configFor(['--host', host])).toThrow(/loopback address only.*pass --issuer/);
  });

  test('[ID-1] the server does not start in production', () => {
    expect(() => configFor([], { NODE_ENV: 'production' })).toThrow(/NODE_ENV is production: pass --issuer/);
  });
});
