import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mcpRegistrationSchema } from '../../src/sources/mcp/registration/forms.ts';
import { mergeUpdate } from '../../src/sources/mcp/registration/merge-update.ts';
import { showDefinition } from '../../src/sources/mcp/registration/show-definition.ts';
import { dockerRun, pluginDirectory, refusalOf, register, secretName } from './registration-fixture.ts';

const usual = {
  limits: { memory_mb: 512, cpus: 1, pids: 256 },
  network: 'none',
  read_only: true,
  tmpfs: ['/tmp'],
  mounts: [],
};

describe('a server inside a container', () => {
  const inside = (mcp_container: object, body: object = {}) => register({ name: 'a', mcp_container, ...body });
  const running = { container: 'tools', command: ['node', '/srv/server.js'] };
  const made = { image: 'ghcr.io/owner/tools:1', command: ['mcp-server'] };

  test('[SRC-3] names a container that already runs, with the directory and user of the program', async () => {
    const { definition, starts } = await inside({ ...running, workdir: '/srv', user: '1000:1000' });
    expect(starts).toEqual({ runtime: 'docker', runs: ['tools'] });
    expect(definition).toMatchObject({
      transport_type: 'stdio',
      runtime_hint: 'docker',
      lifecycle_mode: 'transient',
      command: ['node', '/srv/server.js'],
      container: { name: 'tools', image: null, workdir: '/srv', user: '1000:1000', settings: usual },
    });
  });

  test('[SRC-3] is made from an image with safe defaults', async () => {
    const { definition, starts } = await inside(made, { mcp_lifecycle_mode: 'singleton' });
    expect(starts).toEqual({ runtime: 'docker', runs: ['ghcr.io/owner/tools:1'] });
    expect(definition).toMatchObject({
      lifecycle_mode: 'singleton',
      container: { name: null, image: 'ghcr.io/owner/tools:1', workdir: null, user: null, settings: usual },
    });
    const said = { limits: { memory_mb: 64 }, network: 'bridge', read_only: false, mounts: [{ source: 'cache', target: '/tmp' }] };
    expect((await inside({ ...made, ...said })).definition.container?.settings).toEqual({
      limits: { memory_mb: 64, cpus: 1, pids: 256 },
      network: 'bridge',
      read_only: false,
      // The mount is there instead.
      tmpfs: [],
      mounts: [{ source: 'cache', target: '/tmp', read_only: true }],
      pull: 'missing',
    });
  });

  test.each(['always', 'never'])('[SRC-2] [SRC-3] says whether its image is pulled: %s', async (pull) => {
    expect((await inside({ ...made, pull })).definition.container?.settings.pull).toBe(pull);
    const { definition } = await register({
      name: 'a',
      mcp: { package: { package_type: 'docker', identifier: 'mcp/time' }, transport: { type: 'stdio' } },
      mcp_container: { pull },
    });
    expect(definition.command.join(' ')).toContain(`--pull ${pull} mcp/time`);
  });

  test('[SRC-3] [ENV-4] has secrets in its environment and command sealed, and what is shown can be sent back', async () => {
    const env = { A_TOKEN: 'S1', LEVEL: 'info', B: { secret_ref: 'shared' } };
    const { definition, secrets } = await inside({ ...running, env, command: ['server', '--api-key', 'S2'] });
    expect(secrets).toEqual({ A_TOKEN: 'S1', ARG_API_KEY: 'S2' });
    expect(definition.command).toEqual(['server', '--api-key', '${ARG_API_KEY}']);
    expect(definition.environment).toMatchObject({ A_TOKEN: { secret_ref: secretName('A_TOKEN') }, LEVEL: { value: 'info' } });
    const shown = showDefinition(definition).environment;
    expect(shown).toMatchObject({ A_TOKEN: '***', LEVEL: 'info' });
    const form = mcpRegistrationSchema.parse({ name: 'a', mcp_container: { ...running, env: shown } });
    expect(mergeUpdate(definition, form).mcp_container?.env).toEqual({ ...definition.environment, LEVEL: 'info' });
  });

  test('[SRC-3] may be a shell or an interpreter, because it is contained', async () => {
    const { definition } = await inside({ ...running, command: ['sh', '-c', 'exec server'] });
    expect(definition.command).toEqual(['sh', '-c', 'exec server']);
  });

  test('[SRC-8] is shown in a preview with what would be started and where', async () => {
    const { starts, missing } = await register({ name: 'a', mcp_container: made }, { preview: true });
    expect({ starts, missing }).toEqual({ starts: { runtime: 'docker', runs: ['ghcr.io/owner/tools:1'] }, missing: [] });
  });

  const oauth = { type: 'oauth', authorization_server: 'https://auth.example.com' };
  const refused: [string, object, object, string, RegExp][] = [
    ['neither a container nor an image', { command: ['x'] }, {}, 'mcp_container.container', /image to create one from/],
    ['nothing at all', {}, {}, 'mcp_container.container', /Name a running container/],
    ['both', { ...running, image: 'x' }, {}, 'mcp_container.image', /twice/],
    ['no command', { container: 'tools' }, {}, 'mcp_container.command', /Give the program to start/],
    ['an empty program', { ...running, command: [''] }, {}, 'mcp_container.command', /empty/],
    ['a NUL character', { ...running, command: ['x', 'a\0b'] }, {}, 'mcp_container.command', /NUL/],
    ['a program that is filled in later', { ...running, command: ['${X}'] }, {}, 'mcp_container.command', /Name the program itself/],
    ['a program that is an option', { ...running, command: ['-c'] }, {}, 'mcp_container.command', /hyphen/],
    ['a container by an option', { ...running, container: '--privileged' }, {}, 'mcp_container.container', /not the name/],
    ['a container by a path', { ...running, container: '../x' }, {}, 'mcp_container.container', /not the name/],
    ['a container that is filled in later', { ...running, container: '${X}' }, {}, 'mcp_container.container', /not the name/],
    ['an image by an option', { ...made, image: '-v' }, {}, 'mcp_container.image', /not the name of a container image/],
    ['an image that is filled in later', { ...made, image: '${X}' }, {}, 'mcp_container.image', /not the name/],
    ['the network of the host', { ...made, network: 'host' }, {}, 'mcp_container.network', /host's network is refused/],
    [
      'a mount in place of everything',
      { ...made, mounts: [{ source: 'v', target: '/' }] },
      {},
      'mcp_container.mounts.0.target',
      /replace the root/,
    ],
    ['a mount that is two', { ...made, mounts: [{ source: 'v', target: '/x,readonly' }] }, {}, 'mcp_container.mounts.0', /comma/],
    ['limits of somebody else’s container', { ...running, limits: {} }, {}, 'mcp_container.limits', /no effect/],
    ['a network of somebody else’s container', { ...running, network: 'none' }, {}, 'mcp_container.network', /no effect/],
    ['read_only of somebody else’s container', { ...running, read_only: true }, {}, 'mcp_container.read_only', /no effect/],
    ['tmpfs of somebody else’s container', { ...running, tmpfs: [] }, {}, 'mcp_container.tmpfs', /no effect/],
    ['mounts of somebody else’s container', { ...running, mounts: [] }, {}, 'mcp_container.mounts', /no effect/],
    ['an environment that is no name', { ...running, env: { 'A-B': 'x' } }, {}, 'mcp_container.env.A-B', /letters/],
    ['mcp_server_url', running, { mcp_server_url: 'https://a.example' }, 'mcp_server_url', /twice/],
    ['mcp_plugin_dir', running, { mcp_plugin_dir: '/srv' }, 'mcp_plugin_dir', /twice/],
    ['mcp_command', running, { mcp_command: ['x'] }, 'mcp_command', /mcp_container\.command/],
    ['mcp_args', running, { mcp_args: ['x'] }, 'mcp_args', /mcp_container\.command/],
    ['mcp_cwd', running, { mcp_cwd: '/srv' }, 'mcp_cwd', /mcp_container\.workdir/],
    ['mcp_env_vars', running, { mcp_env_vars: {} }, 'mcp_env_vars', /mcp_container\.env/],
    ['mcp_runtime_hint', running, { mcp_runtime_hint: 'docker' }, 'mcp_runtime_hint', /twice/],
    ['mcp_config', running, { mcp_config: {} }, 'mcp_config', /twice/],
    ['mcp_transport_type sse', running, { mcp_transport_type: 'sse' }, 'mcp_transport_type', /stdio/],
    ['headers', running, { headers: {} }, 'headers', /mcp_container\.env/],
    ['a credential', running, { credential: { type: 'bearer', token: 'x' } }, 'credential', /docker package/],
    ['a credential of each user', running, { credential: oauth, credential_env: 'T' }, 'credential', /All callers share the container/],
    ['credential_env', running, { credential_env: 'T' }, 'credential_env', /All callers share the container/],
  ];
  test.each(refused)('[SRC-3] [SRC-10] is refused with %s, and the field is named', async (_what, container, body, field, message) => {
    const refusal = await refusalOf(inside(container, body));
    expect(refusal).toMatchObject({ code: 'VALIDATION_ERROR', field, message: expect.stringMatching(message) });
  });

  test.each([['container:other'], ['a/b'], ['']])('[SRC-3] cannot have the network %j', (network) => {
    expect(mcpRegistrationSchema.safeParse({ name: 'a', mcp_container: { ...made, network } }).success).toBe(false);
  });

  test.each([
    [{ limits: { pids: 31 } }],
    [{ limits: { memory_mb: 1 } }],
    [{ limits: { cpus: 0 } }],
    [{ workdir: 'relative' }],
    [{ user: 'a b' }],
    [{ privileged: true }],
  ])('[SRC-3] cannot have %j', (said) => {
    expect(mcpRegistrationSchema.safeParse({ name: 'a', mcp_container: { ...made, ...said } }).success).toBe(false);
  });
});

describe('a docker package', () => {
  const docker = { package: { package_type: 'docker', identifier: 'mcp/x' }, transport: { type: 'stdio' } };

  test('[SRC-2] takes its container settings from mcp_container', async () => {
    const mcp_container = {
      limits: { memory_mb: 64, cpus: 0.5, pids: 32 },
      network: 'bridge',
      read_only: false,
      tmpfs: ['/var/cache'],
      user: 'nobody',
      workdir: '/srv',
      mounts: [
        { source: '/srv/files', target: '/files' },
        { source: 'cache', target: '/cache', read_only: false },
      ],
    };
    const { definition, starts } = await register({ name: 'a', mcp: docker, mcp_container }, { allowedMounts: ['/srv'] });
    expect(starts).toEqual({ runtime: 'docker', runs: ['mcp/x'] });
    expect(definition.container).toBeNull();
    expect(definition.command.join(' ')).toBe(
      'docker run --rm -i --init --memory 64m --memory-swap 64m --cpus 0.5 --pids-limit 32 --network bridge --tmpfs /var/cache'
        .concat(' --security-opt no-new-privileges --cap-drop ALL --user nobody --workdir /srv')
        .concat(' --mount type=bind,source=/srv/files,target=/files,readonly --mount type=volume,source=cache,target=/cache mcp/x'),
    );
  });

  test.each([['container'], ['image'], ['command'], ['env']])('[SRC-2] is refused with %s', async (field) => {
    const value = { container: 'x', image: 'x', command: ['x'], env: {} }[field];
    expect(await refusalOf(register({ name: 'a', mcp: docker, mcp_container: { [field]: value } }))).toMatchObject({
      field: `mcp_container.${field}`,
      message: expect.stringContaining(`Take ${field} out`),
    });
  });

  test.each<[string, object]>([
    ['an npm package', { mcp: { ...docker, package: { package_type: 'npm', identifier: 'x' } } }],
    [
      'an http package',
      { mcp: { package: { package_type: 'http', identifier: 'x' }, transport: { type: 'http', url: 'https://a.example' } } },
    ],
    ['a program', { mcp_command: ['/opt/x'] }],
    ['a docker run that is written out', { mcp_command: ['docker', 'run', 'mcp/x'] }],
  ])('[SRC-2] is the only package for mcp_container, which is refused beside %s', async (_what, body) => {
    expect(await refusalOf(register({ name: 'a', ...body, mcp_container: { network: 'bridge' } }))).toMatchObject({
      field: 'mcp_container',
      message: expect.stringContaining('is only for docker packages'),
    });
  });

  test('[SRC-7] of a manifest is made as that says, else by default or as mcp_container says', async () => {
    const manifest = (runtimeArguments: object[]) => ({
      name: 'a',
      packages: [{ registryType: 'oci', identifier: 'mcp/x', runtimeArguments }],
    });
    const named = (name: string, value: string) => ({ type: 'named', name, value });
    const commandOf = async (runtimeArguments: object[], body: object = {}) => {
      const mcp_plugin_dir = await pluginDirectory({ 'server.json': manifest(runtimeArguments) });
      return (await register({ name: 'a', mcp_plugin_dir, ...body })).definition.command.join(' ');
    };
    const own = [named('--network', 'bridge'), named('--tmpfs', '/tmp:size=1m'), named('--cap-drop', 'NET_RAW'), named('--name', 'x')];
    expect(await commandOf(own)).toBe(
      'docker run --rm -i --init --memory 512m --memory-swap 512m --cpus 1 --pids-limit 256 --read-only --security-opt no-new-privileges'.concat(
        ' --cap-drop ALL --network=bridge --tmpfs=/tmp:size=1m --cap-drop=NET_RAW mcp/x',
      ),
    );
    expect(await commandOf([], { mcp_container: { network: 'bridge' } })).toContain('--network bridge --read-only');
    expect(await refusalOf(commandOf(own, { mcp_container: { network: 'none' } }))).toMatchObject({
      field: 'mcp_container',
      message: expect.stringContaining('The package already sets --network'),
    });
    expect(await refusalOf(commandOf([named('--pids-limit', '8')]))).toMatchObject({ message: expect.stringContaining('32') });
    expect(await refusalOf(commandOf([named('--network', 'host')]))).toMatchObject({ message: expect.stringContaining('refused') });
  });

  const added = '--memory 512m --memory-swap 512m --pids-limit 256 --security-opt no-new-privileges';
  test.each<[string, string]>([
    ['docker run mcp/x -v', `docker run --rm -i --init ${added} mcp/x -v`],
    ['docker run -i --rm --init mcp/x', `docker run ${added} -i --rm --init mcp/x`],
    ['docker run -qi --network bridge -- mcp/x', `docker run --rm --init ${added} -qi --network bridge mcp/x`],
    ['podman run --name one -i mcp/x', `podman run --rm --init ${added} -i mcp/x`],
    ['nerdctl run --name=one mcp/x', `nerdctl run --rm -i --init ${added} mcp/x`],
    [
      '/usr/bin/docker container run -m 1g --pids-limit=64 --security-opt=no-new-privileges x',
      '/usr/bin/docker container run --rm -i --init --memory-swap 1g -m 1g --pids-limit=64 --security-opt=no-new-privileges x',
    ],
  ])('[SEC-2] %s stays as it was written, except for what keeps it in bounds', async (written, kept) => {
    expect((await register({ name: 'a', mcp_command: written.split(' ') })).definition.command.join(' ')).toBe(kept);
  });

  test('[SRC-1] can be an image with the hint docker', async () => {
    const { definition } = await register({ name: 'a', mcp_runtime_hint: 'docker', mcp_command: ['mcp/x'], mcp_args: ['-v'] });
    expect(definition.command).toEqual([...dockerRun, 'mcp/x', '-v']);
  });
});

describe('a mount', () => {
  async function folders() {
    const root = await pluginDirectory({ 'allowed/inner/file': '', 'other/file': '', 'allowed/.ssh/id': '', 'allowed/docker.sock': '' });
    mkdirSync(join(root, 'real'));
    symlinkSync(join(root, 'other'), join(root, 'allowed', 'way-out'));
    symlinkSync(join(root, 'real'), join(root, 'link'));
    return root;
  }
  const mount = (source: string, allowedMounts: string[]) => {
    const mounts = [{ source, target: '/x' }];
    return register({ name: 'a', mcp_container: { image: 'x', command: ['x'], mounts } }, { allowedMounts });
  };

  test.each([['allowed'], ['allowed/inner'], ['allowed/inner/'], ['allowed/not-yet/there'], ['other/../allowed'], ['real/x'], ['link/x']])(
    '[SEC-2] of %s is inside what the operator allows',
    async (path) => {
      const root = await folders();
      const { definition } = await mount(`${root}/${path}`, [join(root, 'allowed'), join(root, 'link')]);
      expect(definition.container?.settings.mounts).toHaveLength(1);
    },
  );

  test.each<[string, RegExp]>([
    ['other', /--allow-mount/],
    ['allowed/../other', /--allow-mount/],
    ['allowedness', /--allow-mount/],
    ['allowed/way-out', /--allow-mount/],
    ['allowed/way-out/not-yet', /--allow-mount/],
    ['', /--allow-mount/],
    ['allowed/docker.sock', /access to this machine/],
    ['allowed/inner/podman.sock', /access to this machine/],
    ['allowed/.ssh', /keys/],
    ['allowed/${NAME}', /cannot contain/],
  ])('[SEC-2] of %s is refused', async (path, message) => {
    const root = await folders();
    const refusal = await refusalOf(mount(`${root}/${path}`, [join(root, 'allowed')]));
    expect(refusal).toMatchObject({ field: 'mcp_container.mounts.0.source', message: expect.stringMatching(message) });
  });

  test.each([
    ['/var/run/docker.sock'],
    ['/run/docker'],
    ['/run'],
    ['/var/run'],
    ['/var'],
    ['/'],
    ['/var/lib/docker/volumes'],
    ['/var/run/docker/x'],
    ['/run/containerd/x'],
    ['/run/user/1000/podman/x'],
  ])('[SEC-2] of %s is refused even if the operator allows it', async (source) => {
    expect(await refusalOf(mount(source, ['/var', '/run', source]))).toMatchObject({
      message: expect.stringContaining('access to this machine'),
    });
  });

  test('[SEC-2] can be a volume by default, and nothing of this machine', async () => {
    expect((await mount('volume-1', [])).definition.container?.settings.mounts).toHaveLength(1);
    for (const source of ['/srv', './x', '..', '~/x'])
      expect(await refusalOf(mount(source, []))).toMatchObject({ message: expect.stringContaining('is refused') });
  });

  test.each([['-v', 'ROOT/other:/x'], ['--volume=ROOT/allowed/way-out:/x:ro'], ['--mount', 'type=bind,src=ROOT/other,dst=/x']])(
    '[SEC-2] by docker run %s %s is held to the same rules',
    async (...options) => {
      const root = await folders();
      const allowedMounts = [join(root, 'allowed')];
      const run = (place: string) => {
        const own = options.filter((option) => option !== undefined).map((option) => option.replace(/ROOT\/[\w/-]+/, place));
        return register({ name: 'a', mcp_command: ['docker', 'run', ...own, 'x'] }, { allowedMounts });
      };
      const written = /ROOT\/([\w/-]+)/.exec(options.join(' '))?.[1] ?? '';
      expect(await refusalOf(run(join(root, written)))).toMatchObject({ message: expect.stringContaining('--allow-mount') });
      expect((await run(join(root, 'allowed'))).starts).toEqual({ runtime: 'docker', runs: ['x'] });
    },
  );
});
