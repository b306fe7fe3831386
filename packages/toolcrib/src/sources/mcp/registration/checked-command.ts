/** [SEC-2] What a command starts, so that rules can decide which runtimes, packages and images may run. */
export interface CheckedCommand {
  runtime: 'npx' | 'uvx' | 'uv' | 'python' | 'node' | 'docker' | 'program';
  /** The packages that are fetched, the image, the script, or the program itself. */
  runs: string[];
}

/** One part of a command that decides which code runs. */
export type CommandPart =
  | { kind: 'runtime'; runtime: CheckedCommand['runtime'] }
  /** The version is as written; null if the command gives none. */
  | { kind: 'package'; registry: 'npm' | 'pypi'; name: string; version: string | null }
  | { kind: 'image'; image: string }
  /** A program, a script, or a file that is loaded before the script. */
  | { kind: 'file'; path: string }
  /** `enters`: the command runs in this folder, so relative paths after it start there. */
  | { kind: 'folder'; path: string; enters: boolean }
  | { kind: 'module'; name: string }
  /** An environment variable that the command line gives to a container. */
  | { kind: 'variable'; name: string }
  /** A program that a package runner starts by its bare name: the package's own, or any other program with that name. */
  | { kind: 'command'; name: string };

/** Called for every part of a command while the command is checked. */
export type NotePart = (part: CommandPart) => void;
