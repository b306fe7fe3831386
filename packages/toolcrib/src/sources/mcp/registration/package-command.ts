import { usualContainer, type MadeContainer } from './container-settings.ts';
import { dockerPackageCommand } from './docker-command.ts';
import { invalid } from '../../registration/invalid.ts';
import type { AllowedMounts } from './mount-rules.ts';
import { checkImage, checkNpmSpec, checkPypiSpec } from './package-spec.ts';
import { isContainerRunner, programName } from './program-name.ts';
import type { Runtime } from './runtime.ts';

export interface PackageToStart {
  type: 'npm' | 'pypi' | 'docker';
  identifier: string;
  version?: string | undefined;
  /** The program of the package to run, if its name is not the package's. */
  program?: string | undefined;
  /** Additional packages that the program needs. */
  with?: readonly string[] | undefined;
}

/** Options for a package that runs in its own container. */
export type ContainerOptions = Pick<StartOptions, 'variables' | 'container' | 'allowedMounts' | 'field'>;

export interface StartOptions {
  /** Arguments for npx, uvx or docker itself. */
  runtimeArguments?: readonly string[];
  /** Arguments for the server. */
  args?: readonly string[];
  /** The names of the variables that the container is given. */
  variables?: Iterable<string>;
  /** The settings of the container. */
  container?: MadeContainer;
  allowedMounts?: AllowedMounts;
  /** The request field that holds the identifier. The version's field follows from it. */
  field: string;
  allowRisky: boolean;
}

/** [SRC-2] The command that starts a package: `npx -y …`, `uvx …`, `docker run --rm -i --init …`. */
export function packageCommand(found: PackageToStart, options: StartOptions): string[] {
  const { type, identifier, version = '', program, with: others = [] } = found;
  const { runtimeArguments = [], args = [], field, allowRisky } = options;
  const name = identifier.trim();
  if (name === '') throw invalid(field, 'Package identifier required');
  checkVersion(name, version, type, field);
  switch (type) {
    case 'npm': {
      checkNpmSpec(name, { field, allowRisky });
      const spec = version === '' ? name : `${name}@${version}`;
      const what = program === undefined ? [spec] : [...[spec, ...others].flatMap((one) => ['-p', one]), program];
      return ['npx', '-y', ...without(runtimeArguments, ['-y', '--yes']), ...what, ...args];
    }
    case 'pypi': {
      checkPypiSpec(name, { field, allowRisky });
      // Every uvx understands `name@version`; only those of 2025 and later understand `name==version`, unless it comes after --from.
      const separator = program !== undefined && /^\d/.test(version) ? '==' : '@';
      const spec = version === '' ? name : `${name}${separator}${version}`;
      const what = program === undefined ? [spec] : ['--from', spec, program];
      return ['uvx', ...runtimeArguments, ...others.flatMap((one) => ['--with', one]), ...what, ...args];
    }
    case 'docker': {
      checkImage(name, field);
      const image = version === '' ? name : version.startsWith('sha256:') ? `${name}@${version}` : `${name}:${version}`;
      const own = runtimeArguments[0] === 'run' ? runtimeArguments.slice(1) : runtimeArguments;
      return dockerPackage([...own, image, ...args], options);
    }
  }
}

function dockerPackage(behindRun: readonly string[], options: ContainerOptions): string[] {
  const { container = usualContainer, variables = [], field, allowedMounts = [] } = options;
  return dockerPackageCommand({ behindRun, container, variables }, { field, allowedMounts });
}

function without(args: readonly string[], given: readonly string[]): string[] {
  return args.filter((arg) => !given.includes(arg));
}

function checkVersion(name: string, version: string, type: PackageToStart['type'], field: string): void {
  if (version === '') return;
  if (!/^(?:sha256:)?[A-Za-z0-9][\w.+!-]{0,99}$/.test(version))
    throw invalid(field.replace(/identifier$/, 'version'), 'Give an exact version, such as 1.2.3, or a tag');
  const versioned = type === 'docker' ? /[:@][^/]*$/.test(name) : type === 'npm' ? name.indexOf('@', 1) > 0 : /[@=<>~!]/.test(name);
  if (versioned) throw invalid(field, 'The version is given twice, in the identifier and in version. Take one of them out');
}

/** Puts the runtime before a command that does not name it, as in a manifest's `runtime: uvx, command: [mcp-server-github]`. */
export function withRuntime(runtime: Runtime | null, command: readonly string[], options: ContainerOptions): string[] {
  const [first = ''] = command;
  if (runtime === null || startsWith(first, runtime)) return [...command];
  switch (runtime) {
    case 'npx':
      return ['npx', '-y', ...without(command, ['-y', '--yes'])];
    case 'uvx':
      return ['uvx', ...command];
    case 'docker':
      return namesDockerRun(command) ? ['docker', ...command] : dockerPackage(command, options);
    case 'python':
      return [process.platform === 'win32' ? 'python' : 'python3', ...command];
    case 'node':
      return ['node', ...command];
  }
}

/** Whether the command is a whole `docker run`, and not only the image with its arguments. */
export function namesDockerRun([first = '']: readonly string[]): boolean {
  return first === 'run' || isContainerRunner(programName(first));
}

/** Whether the command names the runtime itself, with or without a path. */
function startsWith(first: string, runtime: Runtime): boolean {
  const program = programName(first);
  return program === runtime || (runtime === 'uvx' && program === 'uv') || (runtime === 'docker' && isContainerRunner(program));
}
