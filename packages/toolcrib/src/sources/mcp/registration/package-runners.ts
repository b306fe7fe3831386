import type { CheckedCommand, NotePart } from './checked-command.ts';
import { invalid } from '../../registration/invalid.ts';
import { readLaunchOptions } from './launch-options.ts';
import { checkNpmSpec, checkPypiSpec, shorten, type PackageRules } from './package-spec.ts';
import { npxOptions, uvxOptions, type RunnerOptions } from './runner-options.ts';

export interface RunnerRules extends PackageRules {
  note: NotePart;
  /** Checks the command that the runner starts: the package's own program, or a program named besides the package. */
  inner(command: readonly string[], inside: 'own' | 'named'): CheckedCommand;
}

const anything = (): void => {};

/** A check for the value of each option that takes one. */
type Looks<Options extends RunnerOptions> = Record<Options['valued'][number], (value: string) => void>;

/** npx and bunx. Returns the packages that are fetched. */
export function checkNpx(program: string, args: readonly string[], rules: RunnerRules): string[] {
  const packages: string[] = [];
  const addPackage = (spec: string): void => void packages.push(checkNpmSpec(spec, rules));
  const inlineCode = 'it hands a command line to a shell. Name the package and its arguments';
  const end = readLaunchOptions(
    args,
    {
      program,
      switches: new Set([...npxOptions.switches, ...(program === 'bunx' ? ['--bun'] : [])]),
      valued: { '--package': addPackage, '-p': addPackage } satisfies Looks<typeof npxOptions>,
      reasons: { '-c': inlineCode, '--call': inlineCode, '--shell': inlineCode, '--script-shell': inlineCode },
    },
    rules.field,
  );
  const [target, ...rest] = args.slice(end);
  if (target === undefined || target === '') throw invalid(rules.field, 'Package identifier required');
  if (packages.length > 0) {
    // With --package the target may be any program on the PATH, not only one of the package's.
    rules.inner([target, ...rest], 'named');
    return packages;
  }
  const name = checkNpmSpec(target, rules);
  // There are packages of interpreters too: `npx node -e …`.
  if (!name.includes('/')) rules.inner([name, ...rest], 'own');
  return [name];
}

/** uvx. Returns the packages that are fetched. */
export function checkUvx(args: readonly string[], rules: RunnerRules): string[] {
  const packages: string[] = [];
  const addPackages = (specs: string): void => {
    // `--with a,b` names two packages; a comma between digits or specifiers belongs to a version.
    for (const spec of specs.split(/,(?=[A-Za-z])/)) packages.push(checkPypiSpec(spec, rules));
  };
  let from: string | undefined;
  const end = readLaunchOptions(
    args,
    {
      program: 'uvx',
      switches: new Set(uvxOptions.switches),
      valued: {
        '--from': (spec) => {
          from = checkPypiSpec(spec, rules);
        },
        '--with': addPackages,
        '-w': addPackages,
        ...interpreter(rules.note),
        '--prerelease': anything,
        '--resolution': anything,
        '--exclude-newer': anything,
        '--link-mode': anything,
      } satisfies Looks<typeof uvxOptions>,
    },
    rules.field,
  );
  const [target, ...rest] = args.slice(end);
  if (target === undefined || target === '') throw invalid(rules.field, 'Package identifier required');
  const name = from ?? checkPypiSpec(target, rules);
  // Every package comes with an interpreter: `uvx --from anything python -c …`.
  if (from === undefined) rules.inner([name, ...rest], 'own');
  else rules.inner([target, ...rest], 'named');
  return [name, ...packages];
}

/** `uv run` inside a project, and `uv tool run`, which is uvx. */
export function checkUv(args: readonly string[], rules: RunnerRules): CheckedCommand {
  const folder =
    (enters: boolean) =>
    (path: string): void =>
      rules.note({ kind: 'folder', path, enters });
  const place = { '--directory': folder(true), '--project': folder(false), ...interpreter(rules.note) };
  const quiet = new Set(
    '-q --quiet -v --verbose --offline --frozen --locked --no-sync --no-dev --no-project --isolated --no-progress'.split(' '),
  );
  const start = readLaunchOptions(args, { program: 'uv', switches: quiet, valued: place }, rules.field);
  const rest = args.slice(start);
  if (rest[0] === 'tool' && rest[1] === 'run') return { runtime: 'uvx', runs: checkUvx(rest.slice(2), rules) };
  if (rest[0] !== 'run')
    throw invalid(rules.field, `uv ${shorten(rest[0] ?? '').slice(1, -1)} is refused: only uv run and uv tool run start a server`);

  const runs: string[] = [];
  const addPackages = (specs: string): void => {
    for (const spec of specs.split(/,(?=[A-Za-z])/)) runs.push(checkPypiSpec(spec, rules));
  };
  const stops = new Set(['-m', '--module']);
  const valued = { ...place, '--with': addPackages, '-w': addPackages, '--extra': anything, '--group': anything };
  const target = rest.slice(1 + readLaunchOptions(rest.slice(1), { program: 'uv run', switches: quiet, valued, stops }, rules.field));
  const first = target[0] ?? '';
  const command = stops.has(first) ? ['python', '-m', ...target.slice(1)] : /\.pyw?$/.test(first) ? ['python', ...target] : target;
  if (first === '' || first === '-') throw invalid(rules.field, 'uv run alone is refused: name the script');
  return { runtime: 'uv', runs: [...rules.inner(command, 'named').runs, ...runs] };
}

/** `--python 3.12` chooses a version; a path names a program. */
function interpreter(note: NotePart): Record<'--python' | '-p', (value: string) => void> {
  const look = (value: string): void => {
    if (/[\\/]|\$\{/.test(value)) note({ kind: 'file', path: value });
  };
  return { '--python': look, '-p': look };
}
