import type { CheckedCommand, NotePart } from './checked-command.ts';
import { readDockerRun } from './docker-run.ts';
import { checkNode, checkOtherInterpreter, checkPython } from './interpreters.ts';
import { invalid } from '../../registration/invalid.ts';
import type { AllowedMounts, MountRules } from './mount-rules.ts';
import { checkNpx, checkUv, checkUvx } from './package-runners.ts';
import { shorten } from './package-spec.ts';
import { programName } from './program-name.ts';

export interface CommandRules {
  /** Allows packages from a URL, a repository or a file, not only from the registry. */
  allowRisky?: boolean;
  /** The request field that holds the command. */
  field?: string;
  /** The directories that containers may mount; none by default. */
  allowedMounts?: AllowedMounts;
  /** Called for every part that decides which code runs, so that the operator's rules can judge it. */
  note?: NotePart;
  /** Set if a package runner starts the command: `own` is the package's own program, `named` a program named besides the package. */
  inside?: 'own' | 'named';
}

const shells = new Set('sh bash dash zsh ksh mksh fish csh tcsh ash cmd powershell pwsh wsl rbash nu xonsh elvish'.split(' '));
const starters = new Set(
  'env sudo doas su runuser xargs nohup setsid timeout nice ionice stdbuf busybox toybox unshare nsenter chroot'
    .concat(' ssh script watch strace gdb find parallel start exec command eval time taskset cross-env cross-env-shell')
    .concat(' concurrently nodemon npm-run-all shx zx dotenv dotenvx')
    .split(' '),
);
const packageManagers: Record<string, string> = { npm: 'npx -y', pnpm: 'npx -y', yarn: 'npx -y', pip: 'uvx', pip3: 'uvx', pipx: 'uvx' };

/**
 * [SEC-2] [SRC-7] Refuses a command that hides what it runs: code on the command line, a shell, a package from outside the registry, a
 * container with access to this machine. Arguments never pass through a shell, so any character in them is only data.
 *
 * `${NAME}` is allowed only as data for the started program, so that its value cannot change what is started.
 */
export function checkCommand(command: readonly string[], given: CommandRules = {}): CheckedCommand {
  const { allowRisky = false, field = 'command', allowedMounts = [], note = () => {}, inside } = given;
  const [path = '', ...args] = command;
  checkProgram(command, field);
  const program = programName(path);
  const hasPath = /[\\/]/.test(path);
  const rules = {
    field,
    allowRisky,
    note,
    inner: (inner: readonly string[], inside: 'own' | 'named') => checkCommand(inner, { ...given, inside }),
  };

  if (shells.has(program))
    throw invalid(field, `${program} is refused: a shell is not a server. Name the program that it would start, or the script itself`);
  if (starters.has(program)) throw invalid(field, `${program} is refused: it only starts another program. Name that program instead`);
  const instead = Object.hasOwn(packageManagers, program) ? packageManagers[program] : undefined;
  if (instead !== undefined)
    throw invalid(field, `${program} is refused: start a package with ${instead} and its name, or a script with its interpreter`);

  if (inside !== undefined && hasPath) note({ kind: 'file', path });
  switch (program) {
    case 'npx':
    case 'bunx':
      note({ kind: 'runtime', runtime: 'npx' });
      return { runtime: 'npx', runs: checkNpx(program, args, rules) };
    case 'uvx':
      note({ kind: 'runtime', runtime: 'uvx' });
      return { runtime: 'uvx', runs: checkUvx(args, rules) };
    case 'uv':
      note({ kind: 'runtime', runtime: 'uv' });
      return checkUv(args, rules);
    case 'docker':
    case 'podman':
    case 'nerdctl':
      return { runtime: 'docker', runs: [checkContainerRun(command, { field, allowedMounts, note })] };
    case 'node':
    case 'nodejs':
    case 'tsx':
    case 'ts-node':
      note({ kind: 'runtime', runtime: 'node' });
      return { runtime: 'node', runs: [checkNode(program, args, { field, note })] };
    case 'python':
    case 'pythonw':
    case 'pypy':
    case 'py':
      note({ kind: 'runtime', runtime: 'python' });
      return { runtime: 'python', runs: [checkPython(program, args, { field, note })] };
    default:
      checkOtherInterpreter(program, args, field);
      if (inside === undefined || hasPath) note({ kind: 'runtime', runtime: 'program' });
      else if (inside === 'named') note({ kind: 'command', name: path });
      return { runtime: 'program', runs: [path] };
  }
}

function checkContainerRun(command: readonly string[], { note, ...rules }: MountRules & { note: NotePart }): string {
  const { image, variables } = readDockerRun(command, rules);
  note({ kind: 'runtime', runtime: 'docker' });
  note({ kind: 'image', image });
  for (const name of variables) note({ kind: 'variable', name });
  return image;
}

/** Checks that apply to every program, including one inside a container. */
export function checkProgram(command: readonly string[], field: string): void {
  const [path = ''] = command;
  if (path.trim() === '') throw invalid(field, 'The command is empty: name the program first');
  if (command.some((part) => part.includes('\0'))) throw invalid(field, 'The command contains a NUL character. Take it out');
  if (path.startsWith('-')) throw invalid(field, `A program's name cannot begin with a hyphen: ${shorten(path)}`);
  if (path.includes('${')) throw invalid(field, 'Name the program itself: ${…} is allowed only in its arguments');
  if (/\s-/.test(path) || (/\s/.test(path) && !/[\\/]/.test(path))) {
    throw invalid(field, `${shorten(path)} looks like a whole command line. Give the program and its arguments as a list`);
  }
}
