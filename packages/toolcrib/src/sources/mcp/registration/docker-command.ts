import type { ContainerMount } from '../../../model/container.ts';
import { usualContainer, type MadeContainer } from './container-settings.ts';
import { readDockerRun, type DockerRun } from './docker-run.ts';
import { invalid } from '../../registration/invalid.ts';
import type { MountRules } from './mount-rules.ts';

export interface DockerPackage {
  /** Options of docker itself, which win over what is usual here, then the image and the arguments of the server. */
  behindRun: readonly string[];
  container: MadeContainer;
  /** The names of the variables that the container is given. */
  variables: Iterable<string>;
}

/** [SRC-2] `docker run` for a package: nothing of the machine within reach, and bounded in all it may use. */
export function dockerPackageCommand({ behindRun, container, variables }: DockerPackage, rules: MountRules): string[] {
  const run = readDockerRun(['docker', 'run', ...behindRun], rules);
  const twice = [...container.said].find((option) => run.given.has(option));
  if (twice !== undefined) throw invalid('mcp_container', `The package says ${twice} itself. Take it out here, or there`);
  // A container has an environment of its own: what it is to see must be named. The values come from the docker command's environment.
  const environment = [...variables].flatMap((name) => ['-e', name]);
  return [...run.start, ...missingFlags(run, container, () => true), ...withoutName(run.options), ...environment, ...run.rest];
}

/**
 * A `docker run` that somebody has written stays as it is, but for what keeps the machine from harm and the container from staying behind.
 * Its network and its file system are left as they were meant, so that a configuration from elsewhere goes on working.
 */
export function completeDockerRun(command: readonly string[], rules: MountRules): string[] {
  const least = new Set(['--rm', '--interactive', '--init', '--memory', '--memory-swap', '--pids-limit', '--security-opt']);
  const run = readDockerRun(command, rules);
  return [...run.start, ...missingFlags(run, usualContainer, (name) => least.has(name)), ...withoutName(run.options), ...run.rest];
}

function missingFlags(run: DockerRun, { settings, user, workdir }: MadeContainer, wanted: (name: string) => boolean): string[] {
  const { limits, network, read_only: readOnly, tmpfs, mounts, pull } = settings;
  const { given, options } = run;
  const memory = given.get('--memory') ?? `${limits.memory_mb}m`;
  const mentioned = new Set(options.flatMap((option) => option.split(/[:,=]/)));
  const flags: [name: string, flags: string[]][] = [
    ['--rm', ['--rm']],
    ['--interactive', ['-i']],
    // Passes SIGTERM on: the first process of a container ignores it otherwise.
    ['--init', ['--init']],
    ['--memory', ['--memory', memory]],
    ['--memory-swap', ['--memory-swap', memory]],
    ['--cpus', ['--cpus', String(limits.cpus)]],
    ['--pids-limit', ['--pids-limit', String(limits.pids)]],
    ['--network', ['--network', network]],
    ['--read-only', readOnly ? ['--read-only'] : []],
    // A directory can be mounted only once.
    ['--tmpfs', tmpfs.flatMap((path) => (mentioned.has(path) ? [] : ['--tmpfs', path]))],
    ['--security-opt', ['--security-opt', 'no-new-privileges']],
    ['--cap-drop', ['--cap-drop', 'ALL']],
    // What docker does by itself need not be said.
    ['--pull', pull === 'missing' ? [] : ['--pull', pull]],
    ['--user', user === null ? [] : ['--user', user]],
    ['--workdir', workdir === null ? [] : ['--workdir', workdir]],
    ['--mount', mounts.flatMap((mount) => ['--mount', mountFlag(mount)])],
  ];
  return flags.flatMap(([name, added]) => (wanted(name) && (adding.has(name) || !given.has(name)) ? added : []));
}

/** Options of which there may be several, each beside the others. */
const adding = new Set(['--tmpfs', '--cap-drop', '--mount']);

function mountFlag({ source, target, read_only: readOnly }: ContainerMount): string {
  const type = source.startsWith('/') ? 'bind' : 'volume';
  return `type=${type},source=${source},target=${target}${readOnly ? ',readonly' : ''}`;
}

/** Two processes cannot have the same name; each gets one of its own when it is started. */
function withoutName(options: readonly string[]): string[] {
  return options.filter((option, index) => !/^--name(?:=|$)/.test(option) && options[index - 1] !== '--name');
}
