import type { ContainerMount } from '../../../model/container.ts';
import { usualContainer, type MadeContainer } from './container-settings.ts';
import { readDockerRun, type DockerRun } from './docker-run.ts';
import { invalid } from '../../registration/invalid.ts';
import type { MountRules } from './mount-rules.ts';

export interface DockerPackage {
  /** The arguments after `docker run`: docker's options, which win over our defaults, the image, and the server's arguments. */
  behindRun: readonly string[];
  container: MadeContainer;
  /** The names of the variables that the container is given. */
  variables: Iterable<string>;
}

/** [SRC-2] `docker run` for a package: isolated from this machine, with limits on memory, processors and processes. */
export function dockerPackageCommand({ behindRun, container, variables }: DockerPackage, rules: MountRules): string[] {
  const run = readDockerRun(['docker', 'run', ...behindRun], rules);
  const twice = [...container.said].find((option) => run.given.has(option));
  if (twice !== undefined)
    throw invalid('mcp_container', `The package already sets ${twice}. Set it in the package or in mcp_container, not in both`);
  // A container has its own environment, so every variable must be named. The values come from the docker command's environment.
  const environment = [...variables].flatMap((name) => ['-e', name]);
  return [...run.start, ...missingFlags(run, container, () => true), ...withoutName(run.options), ...environment, ...run.rest];
}

/**
 * Keeps a hand-written `docker run`, and adds only the missing options that protect this machine and remove the container at the end. Its
 * network and its file system stay as written, so that a configuration from another client keeps working.
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
    // Forwards SIGTERM, which the first process of a container ignores otherwise.
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
    // `missing` is docker's own default.
    ['--pull', pull === 'missing' ? [] : ['--pull', pull]],
    ['--user', user === null ? [] : ['--user', user]],
    ['--workdir', workdir === null ? [] : ['--workdir', workdir]],
    ['--mount', mounts.flatMap((mount) => ['--mount', mountFlag(mount)])],
  ];
  return flags.flatMap(([name, added]) => (wanted(name) && (adding.has(name) || !given.has(name)) ? added : []));
}

/** Options that may be repeated, each adding to the others. */
const adding = new Set(['--tmpfs', '--cap-drop', '--mount']);

function mountFlag({ source, target, read_only: readOnly }: ContainerMount): string {
  const type = source.startsWith('/') ? 'bind' : 'volume';
  return `type=${type},source=${source},target=${target}${readOnly ? ',readonly' : ''}`;
}

/** Two containers cannot have the same name; each gets its own when it is started. */
function withoutName(options: readonly string[]): string[] {
  return options.filter((option, index) => !/^--name(?:=|$)/.test(option) && options[index - 1] !== '--name');
}
