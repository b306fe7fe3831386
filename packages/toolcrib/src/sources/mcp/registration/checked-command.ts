/** [SEC-2] What a command starts, for whoever decides which runtimes, packages and images may run. */
export interface CheckedCommand {
  runtime: 'npx' | 'uvx' | 'uv' | 'python' | 'node' | 'docker' | 'program';
  /** The packages that are fetched, the image, the script, or the program itself. */
  runs: string[];
}

/** One thing that a command takes its code from. */
export type CommandPart =
  | { kind: 'runtime'; runtime: CheckedCommand['runtime'] }
  /** The version is as it was written; null where none was. */
  | { kind: 'package'; registry: 'npm' | 'pypi'; name: string; version: string | null }
  | { kind: 'image'; image: string }
  /** A program or script, or a file that is loaded before it. */
  | { kind: 'file'; path: string }
  /** `enters`: what comes after it is named from there. */
  | { kind: 'folder'; path: string; enters: boolean }
  | { kind: 'module'; name: string }
  /** One that a container is given on the command line. */
  | { kind: 'variable'; name: string }
  /** What a package runner starts by its bare name: a program of the package, or whatever else has that name. */
  | { kind: 'command'; name: string };

/** Is told of every part of a command while that is checked. */
export type NotePart = (part: CommandPart) => void;
