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
  /** The program of the package to run, where it does not have the package's name. */
  program?: string | undefined;
  /** Further packages that it needs. */
  with?: readonly string[] | undefined;
}

/** For what is run in a container of its own. */
export type ContainerOptions = Pick<StartOptions, 'variables' | 'container' | 'allowedMounts' | 'field'>;

export interface StartOptions {
  /** Arguments for npx, uvx or docker itself. */
  runtimeArguments?: readonly string[];
  /** Arguments for the server. */
  args?: readonly string[];
  /** The names of the variables that a container is to be given. */
  variables?: Iterable<string>;
  /** How its container is made. */
  container?: MadeContainer;
  allowedMounts?: AllowedMounts;
  /** Where the identifier stands in the request or file, and where the version does. */
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
      // `name@version` is understood by every uvx; `name==version` only by those of 2025 and later, unless it stands behind --from.
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
    throw invalid(field.replace(/identifier$/, 'version'), 'A version is an exact one, such as 1.2.3, or a tag');
  const versioned = type === 'docker' ? /[:@][^/]*$/.test(name) : type === 'npm' ? name.indexOf('@', 1) > 0 : /[@=<>~!]/.test(name);
  if (versioned) throw invalid(field, 'The version is said twice, in the identifier and by itself. Take one of them out');
}

/** What a runtime puts before a command that does not name it: the manifest's `runtime: uvx, command: [mcp-server-github]`. */
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

/** Whether somebody has written the whole `docker run`, and not only the image. */
export function namesDockerRun([first = '']: readonly string[]): boolean {
  return first === 'run' || isContainerRunner(programName(first));
}

/** Whether the command names the runtime itself, by whatever path. */
function startsWith(first: string, runtime: Runtime): boolean {
  const program = programName(first);
  return program === runtime || (runtime === 'uvx' && program === 'uv') || (runtime === 'docker' && isContainerRunner(program));
}
