/** [SEC-2] What a command starts, for whoever decides which runtimes, packages and images may run. */
export interface CheckedCommand {
  runtime: 'npx' | 'uvx' | 'uv' | 'python' | 'node' | 'docker' | 'program';
  /** The packages that are fetched, the image, the script, or the program itself. */
  runs: string[];
}
