import { fewestPids } from '../../../model/container.ts';
import { invalid } from '../../registration/invalid.ts';
import { readLaunchOptions, type KnownOptions } from './launch-options.ts';
import { checkMountFlag, checkVolumeFlag, type MountRules } from './mount-rules.ts';
import { checkImage, shorten } from './package-spec.ts';
import { programName } from './program-name.ts';

/** A parsed `docker run`: `start` is the program with `run`, `rest` the image with the arguments after it. */
export interface DockerRun {
  start: string[];
  options: string[];
  rest: string[];
  image: string;
  /** The options by their long names, each with its last value; a switch has an empty one. */
  given: Map<string, string>;
  /** The names of the variables that the container is given. */
  variables: string[];
}

const breaksOut = 'it gives the container access to this machine';
const noTerminal = 'the server needs plain pipes, not a terminal. Use -i alone';
const ours = 'Toolcrib manages the container itself. Take it out';

const longNames: Record<string, string> = {
  '-i': '--interactive',
  '-m': '--memory',
  '-u': '--user',
  '-w': '--workdir',
  '-v': '--volume',
  '-e': '--env',
  '-l': '--label',
  '--net': '--network',
};
const switches = ['--rm', '-i', '--interactive', '--init', '--read-only', '-q', '--quiet', '--no-healthcheck'];

/** Parses a `docker run`, and refuses options that give the container access to this machine. */
export function readDockerRun(command: readonly string[], rules: MountRules): DockerRun {
  const { field } = rules;
  const program = programName(command[0] ?? '');
  const runAt = command[1] === 'container' ? 2 : 1;
  const verb = command[runAt];
  if (verb === 'exec')
    throw invalid(field, `${program} exec is refused: name the image with ${program} run, or register the container with mcp_container`);
  if (verb !== 'run')
    throw invalid(field, `${program} ${shorten(verb ?? '').slice(1, -1)} is refused: only ${program} run starts a server`);
  const behind = command.slice(runAt + 1);
  const given = new Map<string, string>();
  const variables: string[] = [];
  const imageAt = readLaunchOptions(behind, knownOptions(`${program} run`, rules, { given, variables }), field);
  const image = behind[imageAt];
  if (image === undefined) throw invalid(field, `${program} run needs the name of an image`);
  const options = behind.slice(0, imageAt).filter((option) => option !== '--');
  for (const name of switches) if (options.some((option) => isSwitch(option, name))) given.set(longNames[name] ?? name, '');
  return { start: command.slice(0, runAt + 1), options, rest: behind.slice(imageAt), image: checkImage(image, field), given, variables };
}

/** Whether an option is this switch, alone or joined as in `-iq`. No value begins with a hyphen, so none is taken for a switch. */
function isSwitch(option: string, name: string): boolean {
  if (option.replace(/=true$/, '') === name) return true;
  return name.length === 2 && /^-[iq]+$/.test(option) && option.includes(name.slice(1));
}

function knownOptions(program: string, rules: MountRules, { given, variables }: Pick<DockerRun, 'given' | 'variables'>): KnownOptions {
  const { field } = rules;
  const refuseUnless = (allowed: RegExp, name: string, why: string) => (value: string) => {
    if (!allowed.test(value)) throw invalid(field, `${name} ${shorten(value)} is refused: ${why}`);
  };
  const anything = (): void => {};
  const bound = (name: string) => refuseUnless(/[1-9]|\$\{/, name, 'it sets no limit. Take it out, or give a limit');
  const network = refuseUnless(/^(?!host$)[a-z0-9][\w.-]*$/i, '--network', breaksOut);
  const label = refuseUnless(/^(?!dev\.toolcrib\.)/i, '--label', ours);
  const volume = (value: string): void => checkVolumeFlag(value, rules);
  const variable = (value: string): void => void variables.push(value.split('=', 1)[0] ?? '');
  const free = '--name --hostname -h --user -u --workdir -w --entrypoint --platform'
    .concat(' --memory-swap --memory-reservation --cpu-shares -c --cpuset-cpus --ulimit --shm-size')
    .concat(' --tmpfs --cap-drop --stop-timeout --stop-signal --dns --add-host --publish -p --expose')
    .split(' ');
  const valued: KnownOptions['valued'] = {
    ...Object.fromEntries(free.map((name) => [name, anything])),
    ...Object.fromEntries(['--memory', '-m', '--cpus'].map((name) => [name, bound(name)])),
    '--network': network,
    '--net': network,
    '--label': label,
    '-l': label,
    '--env': variable,
    '-e': variable,
    '--volume': volume,
    '-v': volume,
    '--pull': refuseUnless(/^(?:missing|always|never)$/, '--pull', 'use missing, always or never'),
    '--mount': (value) => checkMountFlag(value, rules),
    '--security-opt': refuseUnless(/^no-new-privileges(?:[:=]true)?$/, '--security-opt', breaksOut),
    '--pids-limit': (value) => {
      if (!/^\d{1,7}$/.test(value) || Number(value) < fewestPids)
        throw invalid(field, `--pids-limit must be a number of at least ${fewestPids}: with fewer, programs hang instead of failing`);
    },
  };
  const recorded = Object.entries(valued).map(([name, look]) => {
    const note = (value: string): void => {
      look(value);
      given.set(longNames[name] ?? name, value);
    };
    return [name, note] as const;
  });
  return {
    program,
    joinsLetters: true,
    switches: new Set(switches),
    valued: Object.fromEntries(recorded),
    reasons: {
      ...Object.fromEntries(
        '--privileged --pid --ipc --uts --userns --cgroupns --device --cap-add --volumes-from --runtime'
          .split(' ')
          .map((name) => [name, breaksOut]),
      ),
      ...Object.fromEntries(['-t', '--tty', '-it', '-ti'].map((name) => [name, noTerminal])),
      ...Object.fromEntries(['-d', '--detach', '--cidfile', '--restart'].map((name) => [name, ours])),
      '--env-file': 'it reads a file on this machine. Give the variables in the registration instead',
    },
  };
}
