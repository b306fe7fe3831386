import { fileURLToPath } from 'node:url';
import type { NotePart } from './checked-command.ts';
import { invalid } from '../../registration/invalid.ts';
import { readLaunchOptions, type KnownOptions } from './launch-options.ts';
import { shorten } from './package-spec.ts';

const inlineCode = 'code on the command line cannot be reviewed. Put it into a file';
const fromStdin = 'without a script it would run the messages on its standard input as code. Name the script';

const anything = (): void => {};

interface Noting {
  field: string;
  note: NotePart;
}

function preloaded({ field, note }: Noting) {
  return (value: string): void => {
    const isAddress = /^[a-z][a-z0-9+.-]+:/i.test(value) && !/^(?:file|node):/i.test(value);
    if (isAddress || value.includes('${')) {
      throw invalid(field, `${shorten(value)} is refused: ${inlineCode}`);
    }
    if (/^(?:[./\\]|file:)/i.test(value)) note({ kind: 'file', path: pathOf(value, field) });
    else if (!/^node:/i.test(value)) note({ kind: 'module', name: value });
  };
}

function pathOf(value: string, field: string): string {
  if (!/^file:/i.test(value)) return value;
  try {
    return fileURLToPath(value);
  } catch {
    throw invalid(field, `${shorten(value)} is refused: it is not the address of a file on this machine`);
  }
}

/** Refuses code on the command line of node, tsx and ts-node. Returns the script. */
export function checkNode(program: string, args: readonly string[], { field, note }: Noting): string {
  const preload = preloaded({ field, note });
  const known: KnownOptions = {
    program,
    switches: new Set(
      '--no-warnings --no-deprecation --enable-source-maps --experimental-strip-types --experimental-vm-modules'
        .concat(' --expose-gc --transpile-only --esm')
        .split(' '),
    ),
    valued: {
      '--import': preload,
      '--require': preload,
      '-r': preload,
      '--loader': preload,
      '--experimental-loader': preload,
      // V8 reads these, and takes a value only after an equals sign.
      '--max-old-space-size=': anything,
      '--stack-size=': anything,
      '--conditions': anything,
      '-C': anything,
      ...(program === 'tsx' ? { '--tsconfig': (path: string) => note({ kind: 'file', path }) } : {}),
    },
    reasons: {
      '-e': inlineCode,
      '--eval': inlineCode,
      '-p': inlineCode,
      '--print': inlineCode,
      '-pe': inlineCode,
      '-i': fromStdin,
      '--interactive': fromStdin,
    },
  };
  const name = script(program, args[readLaunchOptions(args, known, field)], field);
  if (name === 'inspect') throw invalid(field, `${program} inspect is refused: it starts a debugger, not a server`);
  note({ kind: 'file', path: name });
  return name;
}

/** Modules that run any code or program they are given. */
const runningModules = new Set('timeit pdb code codeop pip ensurepip runpy cProfile profile trace IPython idlelib doctest'.split(' '));

/** Refuses code on the command line of Python. Returns the script, or the module after `-m`. */
export function checkPython(program: string, args: readonly string[], { field, note }: Noting): string {
  const found = pythonTarget(program, args, field);
  note(found);
  return found.kind === 'file' ? found.path : found.name;
}

function pythonTarget(
  program: string,
  args: readonly string[],
  field: string,
): { kind: 'file'; path: string } | { kind: 'module'; name: string } {
  for (let index = 0; index < args.length; index++) {
    const option = args[index] ?? '';
    if (!option.startsWith('-') || option === '-') return { kind: 'file', path: script(program, option, field) };
    if (option.startsWith('--'))
      throw invalid(field, `${program} ${shorten(option).slice(1, -1)} is refused: it is not one of the options known to be harmless`);
    // One-letter options may be joined: `-uc` is `-u -c`. The first letter that takes a value takes the rest.
    const end = /[cmWX]/.exec(option)?.index ?? option.length;
    if (/[^BEIOPRSbdqsuvx]/.test(option.slice(1, end)))
      throw invalid(field, `${program} ${shorten(option).slice(1, -1)} is refused: ${fromStdin}`);
    const letter = option[end];
    if (letter === undefined) continue;
    const value = option.slice(end + 1) || args[++index];
    if (value === undefined) throw invalid(field, `${program} -${letter} needs a value after it`);
    if (letter === 'c') throw invalid(field, `${program} -c is refused: ${inlineCode}`);
    if (letter === 'm') return { kind: 'module', name: module(program, value, field) };
    if (letter === 'X' && !/^(?:utf8|dev|importtime|faulthandler|tracemalloc)\b/.test(value)) {
      throw invalid(field, `${program} -X ${shorten(value).slice(1, -1)} is refused: it is not one of the options known to be harmless`);
    }
  }
  return { kind: 'file', path: script(program, undefined, field) };
}

function module(program: string, name: string, field: string): string {
  if (!/^[A-Za-z_][\w.-]*$/.test(name)) throw invalid(field, `${shorten(name)} is not the name of a Python module`);
  if (runningModules.has(name.split('.')[0] ?? ''))
    throw invalid(field, `${program} -m ${name} is refused: it runs any code that it is given`);
  return name;
}

function script(program: string, name: string | undefined, field: string): string {
  if (name === undefined || name === '-' || name === '') throw invalid(field, `${program} alone is refused: ${fromStdin}`);
  if (name.includes('${')) throw invalid(field, `${shorten(name)} is refused: the script's name cannot contain \${…}`);
  if (/^(?:data|https?|blob):/i.test(name)) throw invalid(field, `${shorten(name)} is refused: a script must be a file on this machine`);
  return name;
}

/** Other interpreters, with the arguments that run code from the command line. */
const otherInterpreters: Record<string, RegExp> = {
  perl: /^-[a-zA-Z]*[eE]/,
  ruby: /^-[a-zA-Z]*e/,
  php: /^(?:-[a-zA-Z]*[rBRE]|--run)/,
  lua: /^-e/,
  deno: /^(?:eval|repl|-)$/,
  bun: /^(?:-e|--eval.*|-p|--print.*|exec|repl|x|-)$/,
  rscript: /^-e/,
  julia: /^(?:-[eE]|--eval|--print)/,
  osascript: /^-e/,
  awk: /^/,
  gawk: /^/,
  sed: /^/,
};

export function checkOtherInterpreter(program: string, args: readonly string[], field: string): void {
  const inline = Object.hasOwn(otherInterpreters, program) ? otherInterpreters[program] : undefined;
  if (inline === undefined) return;
  // Only options before the script count; the arguments after it belong to the script.
  const scriptAt = args.findIndex((arg) => !arg.startsWith('-'));
  const own = scriptAt < 0 ? args : args.slice(0, scriptAt + 1);
  const found = own.find((arg) => inline.test(arg));
  if (found !== undefined) throw invalid(field, `${program} ${shorten(found).slice(1, -1)} is refused: ${inlineCode}`);
  const remote = args
    .filter((arg) => !arg.startsWith('-'))
    .slice(0, 2)
    .find((arg) => /^(?:https?|data|blob):/i.test(arg));
  if (remote !== undefined) throw invalid(field, `${shorten(remote)} is refused: a script must be a file on this machine`);
  if (args[scriptAt]?.includes('${') === true)
    throw invalid(field, `${shorten(args[scriptAt])} is refused: the script's name cannot contain \${…}`);
  if (scriptAt < 0) throw invalid(field, `${program} alone is refused: ${fromStdin}`);
}
