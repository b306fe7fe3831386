import { posix } from 'node:path';
import { invalid } from './invalid.ts';
import { readLaunchOptions, type KnownOptions } from './launch-options.ts';
import { checkImage, shorten } from './package-spec.ts';

const breaksOut = 'it gives the container a way out to this machine';
const noTerminal = 'the conversation needs plain pipes. Use -i alone';

/** Refuses a `docker run` that reaches out of its container. `args` begin behind the name of the program. Gives the image. */
export function checkDockerRun(program: string, args: readonly string[], field: string): string {
  const run = args[0] === 'container' ? args.slice(1) : args;
  if (run[0] === 'exec') throw invalid(field, `${program} exec is refused: name the image with ${program} run, or register the container`);
  if (run[0] !== 'run')
    throw invalid(field, `${program} ${shorten(run[0] ?? '').slice(1, -1)} is refused: only ${program} run starts a server`);
  const known = knownOptions(`${program} run`, field);
  const image = run[1 + readLaunchOptions(run.slice(1), known, field)];
  if (image === undefined) throw invalid(field, `${program} run needs the name of an image`);
  return checkImage(image, field);
}

function knownOptions(program: string, field: string): KnownOptions {
  const anything = (): void => {};
  const network = (value: string): void => {
    if (!/^[a-z0-9][\w.-]*$/i.test(value) || value === 'host') throw invalid(field, `--network ${shorten(value)} is refused: ${breaksOut}`);
  };
  const volume = (value: string): void => checkVolume(value, field);
  const free = '--env -e --label -l --name --hostname -h --user -u --workdir -w --entrypoint --platform --pull --memory -m'
    .concat(' --memory-swap --memory-reservation --cpus --cpu-shares -c --cpuset-cpus --pids-limit --ulimit --shm-size')
    .concat(' --tmpfs --cap-drop --stop-timeout --stop-signal --dns --add-host --publish -p --expose')
    .split(' ');
  return {
    program,
    joinsLetters: true,
    switches: new Set('--rm -i --interactive --init --read-only -q --quiet --no-healthcheck'.split(' ')),
    valued: {
      ...Object.fromEntries(free.map((name) => [name, anything])),
      '--network': network,
      '--net': network,
      '--volume': volume,
      '-v': volume,
      '--mount': (value) => checkMount(value, field),
      '--security-opt': (value) => {
        if (!/^no-new-privileges(?:[:=]true)?$/.test(value))
          throw invalid(field, `--security-opt ${shorten(value)} is refused: ${breaksOut}`);
      },
    },
    reasons: {
      ...Object.fromEntries(
        '--privileged --pid --ipc --uts --userns --cgroupns --device --cap-add --volumes-from --runtime'
          .split(' ')
          .map((name) => [name, breaksOut]),
      ),
      '-t': noTerminal,
      '--tty': noTerminal,
      '-it': noTerminal,
      '-ti': noTerminal,
      '-d': noTerminal,
      '--detach': noTerminal,
      '--env-file': 'it reads a file of this machine. Give the variables to the source instead',
    },
  };
}

/** What belongs to this machine, and not to any container. */
const guarded = '/etc /proc /sys /dev /boot /root /run /var/run /var/lib /usr /bin /sbin /lib /lib64 /private/etc /private/var'.split(' ');

/** Where people keep their keys. */
const keys = /(?:^|[\\/])\.(?:ssh|aws|azure|kube|docker|gnupg|config|netrc|npmrc)(?:[\\/]|$)/i;

function checkVolume(value: string, field: string): void {
  refuseReference(value, field);
  // A drive letter has a colon of its own.
  const source = /^(?:[a-z]:)?[^:]*/i.exec(value)?.[0] ?? '';
  // A single part is an anonymous volume: nothing of this machine is in it.
  if (source !== value) checkMountSource(source, field);
}

function checkMount(value: string, field: string): void {
  refuseReference(value, field);
  const harmless = new Set(['type', 'source', 'src', 'target', 'destination', 'dst', 'readonly', 'ro', 'tmpfs-size', 'tmpfs-mode']);
  for (const part of value.split(',')) {
    const [name = '', ...rest] = part.split('=');
    if (!harmless.has(name.toLowerCase())) throw invalid(field, `--mount ${shorten(part)} is refused: ${breaksOut}`);
    if (/^(?:source|src)$/i.test(name)) checkMountSource(rest.join('='), field);
  }
}

/** What is filled in later could say anything, another mount too. */
function refuseReference(value: string, field: string): void {
  if (value.includes('${')) throw invalid(field, `Mounting ${shorten(value)} is refused: what is mounted must be said outright`);
}

function checkMountSource(source: string, field: string): void {
  const refused = invalid(
    field,
    `Mounting ${shorten(source)} is refused: ${breaksOut}. Mount a directory made for the server, by its absolute path`,
  );
  if (/\.sock\b/i.test(source) || keys.test(source) || /^[a-z]:[\\/]*$/i.test(source)) throw refused;
  // A named volume.
  if (/^[a-z0-9][\w.-]*$/i.test(source) || /^[a-z]:[\\/]/i.test(source)) return;
  if (!source.startsWith('/')) throw refused;
  const path = posix.normalize(source).replace(/\/+$/, '');
  const touches = guarded.some((place) => path === place || path.startsWith(`${place}/`) || place.startsWith(`${path}/`));
  if (path === '' || path === '/home' || path === '/Users' || touches) throw refused;
}
