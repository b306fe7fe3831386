import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ReadStream } from 'node:tty';
import { describe, expect, test } from 'vitest';
import { addRegistration } from '../../src/cli/add-registration.ts';
import { addVariables } from '../../src/cli/add-variables.ts';
import { add } from '../../src/cli/add.ts';
import { parseCommandLine } from '../../src/cli/parse-command-line.ts';
import type { Given } from '../../src/cli/given.ts';
import { mcpRegistrationSchema, type McpRegistrationInput } from '../../src/sources/mcp/registration/forms.ts';

/** The registration that `toolcrib add` would send, without asking for secrets. */
function registration(...args: string[]) {
  const given = parseCommandLine(add, args, {}) as Given;
  const form = addRegistration(given).formWith({});
  mcpRegistrationSchema.parse(form);
  return form as McpRegistrationInput;
}

describe('a registration by `toolcrib add`', () => {
  const targets: [args: string[], command: string[] | string][] = [
    [
      ['npx', 'pkg'],
      ['npx', '-y', 'pkg'],
    ],
    [
      ['npx', '-y', 'pkg', 'a b'],
      ['npx', '-y', 'pkg', 'a b'],
    ],
    [
      ['npx', '@scope/pkg', '--version', '1.2.3', '--', '--port', '1'],
      ['npx', '-y', '@scope/pkg@1.2.3', '--port', '1'],
    ],
    [
      ['--', 'npx', '-y', '--package', 'a', 'b'],
      ['npx', '-y', '--package', 'a', 'b'],
    ],
    [
      ['uvx', 'mcp-server-git'],
      ['uvx', 'mcp-server-git'],
    ],
    [
      ['uvx', 'mcp-server-git', '--version', '2026.1.14'],
      ['uvx', 'mcp-server-git@2026.1.14'],
    ],
    [
      ['--', 'uvx', '--from', 'a', 'b'],
      ['uvx', '--from', 'a', 'b'],
    ],
    [
      ['uvx', '--from', 'a==1.2', '--with', 'c', '-p', '3.12', 'b', 'x', '--name', 'named', '--', '--flag'],
      ['uvx', '--from', 'a==1.2', '--with', 'c', '-p', '3.12', 'b', 'x', '--flag'],
    ],
    [
      ['--name', 'named', 'uvx', '--lifecycle', 'transient', '--from=a', 'b'],
      ['uvx', '--from=a', 'b'],
    ],
    [
      ['uvx', '--with', 'a', 'b', '--', '--from', 'c'],
      ['uvx', '--with', 'a', 'b', '--from', 'c'],
    ],
    [
      ['npx', '-p', '@scope/a@1.2.3', 'b', '--', '--from', 'c'],
      ['npx', '-y', '-p', '@scope/a@1.2.3', 'b', '--from', 'c'],
    ],
    [
      ['npx', '-y', '--package=a', '-p', 'c', 'b'],
      ['npx', '-y', '--package=a', '-p', 'c', 'b'],
    ],
    [
      ['--', 'python3', './server.py', '--name', 'x'],
      ['python3', './server.py', '--name', 'x'],
    ],
    [['https://mcp.example.org/mcp'], 'https://mcp.example.org/mcp'],
    [['HTTP://localhost:3000/mcp'], 'HTTP://localhost:3000/mcp'],
  ];

  test.each(targets)('[CLI-1] [SRC-1] toolcrib add %j starts, or connects to, %j', (args, meant) => {
    const form = registration(...args);
    expect(form.mcp_command ?? form.mcp_server_url).toEqual(meant);
  });

  test('[CLI-1] [SRC-7] takes an absolute path with a manifest for a folder, and never a bare name', () => {
    expect(registration('./packages', 'x')).toMatchObject({
      mcp_plugin_dir: join(process.cwd(), 'packages'),
      mcp_args: ['x'],
      name: 'packages',
    });
    expect(registration('packages')).toMatchObject({ mcp_command: ['packages'] });
    expect(() => registration('./packages', '--cwd', '/srv')).toThrow('--cwd is not for a folder with a manifest');
  });

  test('[CLI-1] is a singleton by default', () => {
    expect(registration('npx', 'pkg')).toMatchObject({ mcp_lifecycle_mode: 'singleton' });
    expect(registration('npx', 'pkg', '--lifecycle', 'transient', '--standby', '2')).toMatchObject({
      mcp_lifecycle_mode: 'transient',
      standby: 2,
    });
    expect(registration('https://x.example/mcp')).not.toHaveProperty('mcp_lifecycle_mode');
  });

  test('[CLI-1] runs a program in the current folder unless the server is on another machine', () => {
    const elsewhere = ['--url', 'https://crib.example.org'];
    expect(registration('--', './LICENSE').mcp_cwd).toBe(process.cwd());
    const folder = import.meta.dirname;
    expect(registration('--cwd', folder, '--', './add.test.ts').mcp_cwd).toBe(folder);
    expect(() => registration('--', './add.test.ts')).toThrow('There is no file or folder "./add.test.ts" here');
    expect(registration(...elsewhere, '--', './server.py').mcp_command).toEqual(['./server.py']);
    expect(registration(...elsewhere, '--', '/opt/server')).not.toHaveProperty('mcp_cwd');
    expect(registration(...elsewhere, '--cwd', '/srv', '--', '/opt/server').mcp_cwd).toBe('/srv');
    expect(registration('npx', 'pkg')).not.toHaveProperty('mcp_cwd');
    expect(registration('npx', 'pkg', '--cwd', 'data')).toMatchObject({
      mcp_command: ['npx', '-y', 'pkg'],
      mcp_cwd: join(process.cwd(), 'data'),
    });
    expect(registration(...elsewhere, '--cwd', '/srv', 'uvx', 'pkg').mcp_cwd).toBe('/srv');
  });

  test('[CLI-1] of an address takes headers and a transport, and plain http only where it is allowed', () => {
    const args = [
      'https://acme.example/sse',
      '--header',
      'X-Team:  blue ',
      '--header',
      'X-Empty:',
      '--transport',
      'sse',
      '--allow-insecure',
    ];
    expect(registration(...args)).toEqual({
      name: 'acme',
      mcp_server_url: 'https://acme.example/sse',
      mcp_transport_type: 'sse',
      headers: { 'X-Team': 'blue', 'X-Empty': '' },
      allow_insecure: true,
    });
  });

  test('[CLI-1] [MCP-2] of an address that ends in /sse uses the old transport by default', () => {
    expect(registration('http://localhost:3000/sse')).toMatchObject({ mcp_transport_type: 'sse' });
    expect(registration('https://x.example/sse/?key=1')).toMatchObject({ mcp_transport_type: 'sse' });
    expect(registration('https://x.example/sse', '--transport', 'streamable_http')).toMatchObject({
      mcp_transport_type: 'streamable_http',
    });
    expect(registration('https://x.example/sse/mcp')).not.toHaveProperty('mcp_transport_type');
    expect(registration('https://x.example/news?from=/ssex')).not.toHaveProperty('mcp_transport_type');
  });

  test('[CLI-1] passes names and the startup timeout on', () => {
    expect(registration('npx', 'pkg', '--name', 'My tools', '--namespace', 'mine', '--startup-timeout', '5000')).toMatchObject({
      name: 'My tools',
      namespace: 'mine',
      resilience: { startupTimeoutMs: 5000 },
    });
  });

  test('[CLI-1] [SRC-3] can be of a server inside a container, an existing or a new one', () => {
    expect(registration('--container', 'my-tools', '--user', 'node', '--workdir', '/srv', '--', 'node', 'server.js', '--x')).toEqual({
      name: 'my-tools',
      mcp_container: { container: 'my-tools', command: ['node', 'server.js', '--x'], user: 'node', workdir: '/srv' },
      mcp_lifecycle_mode: 'singleton',
    });
    const limits = ['--memory', '64', '--cpus', '0.5', '--pids', '64', '--network', 'bridge'];
    const mounts = ['--mount', '/srv/files:/files', '--mount', 'cache:/cache:rw'];
    expect(registration('--image', 'ghcr.io/owner/tickets-mcp:1', ...limits, ...mounts, '--', 'npx', '-y', 'pkg')).toMatchObject({
      name: 'tickets',
      mcp_container: {
        image: 'ghcr.io/owner/tickets-mcp:1',
        command: ['npx', '-y', 'pkg'],
        limits: { memory_mb: 64, cpus: 0.5, pids: 64 },
        network: 'bridge',
        mounts: [
          { source: '/srv/files', target: '/files', read_only: true },
          { source: 'cache', target: '/cache', read_only: false },
        ],
      },
    });
  });

  const wrong: [args: string[], message: string][] = [
    [[], 'Name something to add'],
    [['npx'], '<package> is missing'],
    [['uvx', '--from', 'a', 'b', '--version', '1'], "with options of uvx, write it after the package: --from 'name==1.2.3'"],
    [['uvx', '--from', 'a'], 'Package identifier required'],
    [['./nofile.yaml'], 'There is no file "./nofile.yaml" here'],
    [['nofile.json'], 'There is no file "nofile.json" here'],
    [['./nofolder'], 'There is no file or folder "./nofolder" here'],
    [['@scope/pkg'], '@scope/pkg looks like a package: write `toolcrib add npx @scope/pkg`'],
    [['https://x.example/mcp', 'more'], '"more" is one argument too many after an address'],
    [['https://x.example/mcp', '--version', '1'], '--version is for servers that Toolcrib starts, not for an address'],
    [['https://x.example/mcp', '--lifecycle', 'transient'], '--lifecycle is for servers that Toolcrib starts'],
    [['https://x.example/mcp', '--header', 'Bearer abc'], "--header must be like 'X-Team: blue'"],
    [['npx', 'pkg', '--header', 'A: b'], '--header is not for a package'],
    [['npx', 'pkg@1.0.0', '--version', '2.0.0'], 'The version is given twice'],
    [['npx', 'pkg', '--version', '1 2'], 'Give an exact version'],
    [['--version', '1', '--', 'npx', '--package', 'a', 'b'], '--version is for a package alone'],
    [['--version', '1', '--', 'prog'], '--version is not for a program'],
    [['npx', 'pkg', '--lifecycle', 'eternal'], '--lifecycle must be singleton or transient, not "eternal"'],
    [['npx', 'pkg', '--transport', 'stdio'], '--transport must be sse or streamable_http, not "stdio"'],
    [['npx', 'pkg', '--standby', '2'], '--standby is for --lifecycle transient'],
    [['--container', 'a', '--image', 'b', '--', 'x'], 'Give --container (a running container) or --image (a new one), not both'],
    [['--container', 'a'], 'The command to start inside the container is missing'],
    [['--container', 'a', '--memory', '64', '--', 'x'], '--memory has no effect on a running container'],
    [['--container', 'a', '--cwd', '/x', '--', 'x'], '--cwd is not for a server inside a container'],
    [['--image', 'a', '--pids', '31', '--', 'x'], '--pids must be a whole number from 32'],
    [['--image', 'a', '--mount', '/x', '--', 'x'], '--mount must be like /srv/files:/files'],
    [['--image', 'a', '--mount', '/x:/y:rwx', '--', 'x'], '--mount must be like /srv/files:/files'],
    [['npx', 'pkg', '--network', 'bridge'], '--network is for a server inside a container: --container or --image'],
    [['npx', 'pkg', '--standby', '33', '--lifecycle', 'transient'], '--standby must be a whole number from 0 to 32'],
  ];

  test.each(wrong)('[CLI-1] toolcrib add %j is refused before anything is sent', (args, message) => {
    expect(() => registration(...args)).toThrow(message);
  });

  test('[SEC-2] of a shell is refused here as the server would refuse it', () => {
    expect(() => registration('--', 'bash', '-c', 'x')).toThrow('bash is refused');
  });
});

const names: [operands: string[], name: string][] = [
  [['npx', '@modelcontextprotocol/server-everything'], 'everything'],
  [['npx', '@playwright/mcp@latest'], 'playwright'],
  [['npx', '@upstash/context7-mcp'], 'context7'],
  [['npx', 'mcp-server'], 'mcp-server'],
  [['uvx', 'mcp-server-git'], 'git'],
  [['uvx', 'mcp_server_fetch==1.0'], 'fetch'],
  [['uvx', '--from', 'weather-mcp', 'serve'], 'weather'],
  [['python3', '-m', 'my_weather'], 'my_weather'],
  [['node', '/srv/weather/dist/index.js'], 'weather'],
  [['/opt/bin/tickets-server', 'serve'], 'tickets'],
  [['docker', 'run', '-i', '--rm', 'ghcr.io/github/github-mcp-server:1.2'], 'github'],
  [['https://mcp.example.org/mcp'], 'example'],
  [['https://mcp.foo.co.uk/mcp'], 'foo'],
  [['http://localhost:3001/mcp'], 'localhost-3001'],
  [['http://127.0.0.1/mcp'], '127.0.0.1'],
  [['http://[::1]:8080/mcp'], '[::1]-8080'],
];

test.each(names)('[CLI-1] toolcrib add %j chooses the name %j by default', (operands, name) => {
  expect(registration('--', ...operands).name).toBe(name);
});

describe('a variable', () => {
  const input = (text = '') => Readable.from([text]) as unknown as ReadStream;
  const read = (given: { env?: string[]; secret?: string[] }, text?: string) =>
    addVariables({ env: [], secret: [], ...given }, input(text));

  test('[CLI-1] has everything after the first equals sign as its value', async () => {
    expect(await read({ env: ['A=1', 'B=x=y', 'C='] })).toEqual({ A: '1', B: 'x=y', C: '' });
  });

  test('[ENV-4] that is a secret but does not look like one is stored under a name that does', async () => {
    expect(await read({ secret: ['API_TOKEN=t0p', 'REGION=north'] })).toEqual({
      API_TOKEN: 't0p',
      REGION: '${REGION_SECRET}',
      REGION_SECRET: 'north',
    });
  });

  test('[CLI-1] takes all of standard input when it is the only secret without a value', async () => {
    expect(await read({ secret: ['API_TOKEN'] }, 'two\nlines\n')).toEqual({ API_TOKEN: 'two\nlines' });
  });

  test('[CLI-1] takes one line of standard input when several secrets have no value', async () => {
    expect(await read({ secret: ['A_TOKEN', 'B_TOKEN=given', 'C_TOKEN'] }, 'a\nc\n')).toEqual({
      A_TOKEN: 'a',
      B_TOKEN: 'given',
      C_TOKEN: 'c',
    });
  });

  test.each([
    [{ env: ['A'] }, '', '--env must be NAME=VALUE'],
    [{ env: ['=s3cret'] }, '', '--env must start with the name of a variable'],
    [{ env: ['A=1', 'A=2'] }, '', 'A is given twice'],
    [{ env: ['A_TOKEN=1'], secret: ['A_TOKEN=2'] }, '', 'A_TOKEN is given twice'],
    [{ secret: ['A_TOKEN'] }, '', 'There is no value'],
    [{ secret: ['A_TOKEN='] }, '', 'The secret A_TOKEN has no value'],
    [{ secret: ['A', 'B'] }, 'one', 'Standard input must have 2 lines, one for each of A, B, but it has 1'],
  ])('[CLI-1] %j with %j is refused without repeating any value', async (given, text, message) => {
    const failure = await read(given, text).catch((error: Error) => error);
    expect(failure).toMatchObject({ message: expect.stringContaining(message) });
    expect((failure as Error).message).not.toContain('s3cret');
  });
});
