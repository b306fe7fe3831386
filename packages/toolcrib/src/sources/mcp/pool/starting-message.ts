import type { McpDefinition } from '../mcp-definition.ts';
import { packageLauncher } from '../process/package-launcher.ts';

interface LongStart {
  /** Since it was started. */
  forMs: number;
  /** The last line it wrote to standard error. */
  said: string | undefined;
  /** The image that is being fetched for it, with the progress. */
  pulling: string | undefined;
}

/** Most servers are up sooner. */
const worthSayingMs = 5000;
const mostCharacters = 300;

/** [LIFE-1] What a server that takes long to start is doing; undefined while it has not taken long. */
export function startingMessage({ command, resilience }: McpDefinition, { forMs, said, pulling }: LongStart): string | undefined {
  // A pull has a timeout of its own, which can be long.
  if (pulling !== undefined) return pulling;
  if (forMs < worthSayingMs || command.length === 0) return undefined;
  const launcher = packageLauncher(command);
  const what = launcher === undefined ? 'It is starting' : `${launcher} is fetching or starting it`;
  const seconds = `${Math.floor(forMs / 1000)} s, of at most ${Math.round(resilience.startupTimeoutMs / 1000)} s`;
  return `${what}: ${seconds}${said === undefined ? '' : `. It last wrote: ${said.slice(0, mostCharacters)}`}`;
}
