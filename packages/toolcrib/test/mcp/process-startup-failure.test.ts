import { describe, expect, test } from 'vitest';
import { containerSchema, type Container } from '../../src/model/container.ts';
import { mcpDefinitionSchema } from '../../src/sources/mcp/mcp-definition.ts';
import { startServerProcess } from '../../src/sources/mcp/process/server-process.ts';
import { startupFailure, startupTimeout } from '../../src/sources/mcp/process/startup-failure.ts';
import { processParts } from '../fixtures/mcp/start-fixture.ts';
import { part } from '../parts.ts';

const exit = { code: 1, signal: null };

const said: [string, string[], object][] = [
  [
    '[ERR-1] npx, with a name nobody has',
    ['npm error code E404', 'npm error 404 Not Found - GET https://registry.example.org/none', 'npm error 404'],
    { code: 'NOT_FOUND', message: expect.stringMatching(/^Package not found\. The npm registry does not have it/) },
  ],
  ['[ERR-1] an npx of old', ['npm ERR! code E404', 'npm ERR! 404 Not Found'], { code: 'NOT_FOUND' }],
  [
    '[ERR-1] npx, with a version nobody has',
    ['npm error code ETARGET', 'npm error notarget No matching version found for left-pad@99.0.0.'],
    { code: 'NOT_FOUND', message: expect.stringContaining('this version') },
  ],
  ['[ERR-1] npx without a network', ['npm error code ENOTCACHED'], { code: 'NOT_FOUND', message: expect.stringContaining('cache') }],
  [
    '[ERR-1] npx, with a package without a program',
    ['npm error could not determine executable to run'],
    { code: 'NOT_FOUND', message: expect.stringMatching(/^The npm package has no program to run\. Check the name/) },
  ],
  [
    '[ERR-1] uvx, with a name nobody has',
    [
      'error: No solution found when resolving tool dependencies',
      '  cause: Because none was not found in the package registry and you require none, we can conclude that your requirements are unsatisfiable.',
    ],
    { code: 'NOT_FOUND', message: expect.stringMatching(/^Package not found\. The Python package index/) },
  ],
  [
    '[ERR-1] an older uvx, which wraps its lines',
    [
      '  × No solution found when resolving tool dependencies:',
      '  ╰─▶ Because a-package-with-a-long-name was not found in the package',
      '      registry and you require a-package-with-a-long-name, we can conclude that',
      '      your requirements are unsatisfiable.',
    ],
    { code: 'NOT_FOUND' },
  ],
  [
    '[ERR-1] uvx, with a version nobody has',
    ['  cause: Because there is no version of mcp-server-time==99.0 and you require mcp-server-time==99.0, we can conclude …'],
    { code: 'NOT_FOUND', message: expect.stringContaining('this version') },
  ],
  ['[ERR-1] uvx, with a package without a program', ['Package `six` does not provide any executables.'], { code: 'NOT_FOUND' }],
  [
    '[ERR-1] an image nobody has',
    [
      "Unable to find image 'none:latest' locally",
      'docker: Error response from daemon: pull access denied for none, repository does not exist',
    ],
    { code: 'NOT_FOUND', message: expect.stringContaining('no such image') },
  ],
  [
    '[ERR-2] docker without its daemon',
    ['docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?'],
    { name: 'EngineUnavailableError', code: 'SERVICE_UNAVAILABLE', message: expect.stringMatching(/^Docker not running/) },
  ],
  [
    '[ERR-2] docker without the right to use it',
    [
      'docker: permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Head "http://%2Fvar%2Frun%2Fdocker.sock/_ping": dial unix /var/run/docker.sock: connect: permission denied',
    ],
    {
      name: 'EngineUnavailableError',
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringMatching(/^This account may not use Docker at unix:\/\/\/var\/run\/docker\.sock\. .*group docker/),
    },
  ],
  [
    '[ERR-2] a newer docker without the right to use it',
    ['permission denied while trying to connect to the docker API at unix:///run/user/1000/docker.sock'],
    { name: 'EngineUnavailableError', message: expect.stringContaining('at unix:///run/user/1000/docker.sock. ') },
  ],
  [
    '[ERR-5] an image for another kind of processor',
    ['exec /server: exec format error'],
    { code: 'SERVICE_UNAVAILABLE', retryable: false, message: expect.stringContaining('another kind of processor') },
  ],
  [
    '[ERR-5] packages that do not go together, which is not the same as missing',
    ['error: No solution found when resolving tool dependencies', '  cause: Because a depends on python>=3.99, we can conclude …'],
    { code: 'SERVICE_UNAVAILABLE', retryable: false, message: expect.stringContaining('ended with code 1 before it was ready') },
  ],
  [
    '[ERR-5] a program with an error of its own',
    ['Traceback (most recent call last):', 'KeyError: API_KEY'],
    { code: 'SERVICE_UNAVAILABLE', retryable: true, message: expect.stringContaining('KeyError: API_KEY') },
  ],
  ['[ERR-5] a program that says nothing', [], { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('It wrote nothing') }],
];
test.each(said)('%s is explained', (_name, lastWords, expected) => {
  const details = { exit_code: 1, signal: null, stderr: lastWords };
  expect(startupFailure({ exit, lastWords })).toMatchObject({ details, ...expected });
});

const dockerSaid: [string, number, string[], object][] = [
  [
    '[ERR-1] an image that is not here, on a machine that reaches no registry',
    125,
    [
      "Unable to find image 'none:1' locally",
      'docker: Error response from daemon: Get "https://registry.example.org/v2/": dial tcp: lookup registry.example.org: no such host',
    ],
    { code: 'NOT_FOUND', message: expect.stringMatching(/^Package not found\. There is no such image here, and it could not be pulled/) },
  ],
  [
    '[ERR-5] an image that was pulled, and a container that could not be made',
    125,
    ["Unable to find image 'x' locally", 'Status: Downloaded newer image for x:latest', 'docker: Error response from daemon: Conflict'],
    { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('ended with code 125') },
  ],
  [
    '[ERR-1] a program that the image does not have',
    127,
    ['[FATAL tini (7)] exec no-such failed: No such file or directory'],
    { code: 'NOT_FOUND', field: 'command', message: expect.stringContaining('The image has no program no-such.') },
  ],
  [
    '[ERR-1] the same without an init',
    127,
    [
      'docker: Error response from daemon: … unable to start container process: exec: "no-such": executable file not found in $PATH: unknown',
    ],
    { code: 'NOT_FOUND', message: expect.stringContaining('The image has no program no-such.') },
  ],
  [
    '[ERR-1] a program that the image does not let run',
    126,
    ['[FATAL tini (7)] exec /etc/passwd failed: Permission denied'],
    { code: 'NOT_FOUND', message: expect.stringContaining('The image cannot run /etc/passwd.') },
  ],
];
test.each(dockerSaid)('%s is explained', (_name, code, lastWords, expected) => {
  expect(startupFailure({ exit: { code, signal: null }, lastWords })).toMatchObject(expected);
});

test.each([
  [['node', 'server.js'], /^Handshake timed out after 90 s\. If it needs longer to start, raise `startupTimeoutMs`/],
  [['/usr/bin/uvx', 'a-package'], /^Handshake timed out after 90 s\. uvx may still have been fetching the package/],
])('[ERR-4] %s that said nothing has timed out', (command, message) => {
  const { resilience } = mcpDefinitionSchema.parse({ transport_type: 'stdio', resilience: { startupTimeoutMs: 90_000 } });
  const failure = startupTimeout({ command, container: null, resilience }, ['still loading']);
  expect(failure).toMatchObject({ code: 'NETWORK_ERROR', retryable: true, details: { stderr: ['still loading'] } });
  expect(failure.message).toMatch(message);
  expect(failure.message).toMatch(/still loading$/);
});

/** What really comes of a command. */
async function startAndFail(command: string[], env: Record<string, string> = {}) {
  using parts = processParts();
  const server = await startServerProcess({ ...parts, env: { ...(process.env as Record<string, string>), ...env }, command });
  server.stdin.end();
  return startupFailure({ exit: await server.exited, lastWords: server.lastWords(50) });
}

const notFound = {
  code: 'NOT_FOUND',
  message: expect.stringMatching(/^Package not found|^The (?:npm|Python) package has no/),
  details: { exit_code: 1 },
};

const npx = part('npx');
describe.skipIf(!npx.available)('the real npx', () => {
  const program = npx.available ? npx.url : '';
  test.each(['@toolcrib-test/no-such-package', 'is-number@99.0.0', 'is-number@7.0.0'])('[ERR-1] does not find %s', async (name) => {
    expect(await startAndFail([program, '-y', name])).toMatchObject(notFound);
  });
});

const uvx = part('uvx');
describe.skipIf(!uvx.available)('the real uvx', () => {
  const program = uvx.available ? uvx.url : '';
  test.each([['toolcrib-no-such-package'], ['six==99.0'], ['six'], ['--from', 'six', 'no-such-program']])(
    '[ERR-1] does not find %s %s %s',
    async (...args) => {
      expect(await startAndFail([program, ...args])).toMatchObject(notFound);
    },
  );
});

describe('[LIFE-1] a container without a network', () => {
  const none = ['docker', 'run', '--rm', '-i', '--network', 'none', 'image'];
  const container = containerSchema.parse({ image: 'image' });
  test.each<[string[], Container | null, string, boolean]>([
    [none, null, 'Error: getaddrinfo ENOTFOUND api.example.org', true],
    [none, null, 'socket.gaierror: [Errno -3] Temporary failure in name resolution', true],
    [none, null, 'connect ECONNREFUSED 93.184.215.14:443', true],
    [none, null, 'connect ECONNREFUSED 127.0.0.1:5432', false],
    [none, null, 'API_KEY is not set', false],
    [['docker', 'run', '--network=none', 'image'], null, 'connect ENETUNREACH 1.1.1.1:443', true],
    [['docker', 'run', '--network', 'bridge', 'image'], null, 'connect ENETUNREACH 1.1.1.1:443', false],
    [['node', 'server.js'], null, 'getaddrinfo EAI_AGAIN', false],
    [['server'], container, 'dial tcp: lookup api.example.org: no such host', true],
    [['server'], { ...container, name: 'theirs', image: null }, 'no such host', false],
  ])('of %j, %j, with the output %j explains the failure: %s', (command, inside, said, isReason) => {
    const failure = startupFailure({ exit: { code: 1, signal: null }, lastWords: [said], definition: { command, container: inside } });
    expect(failure.message.includes('"network": "bridge"')).toBe(isReason);
  });
});
