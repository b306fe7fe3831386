import { fixtureServer } from '../fixtures/mcp/start-fixture.ts';
import { runToolcrib, startToolcrib, type RunOptions } from './run-toolcrib.ts';
import { startServing } from './serving.ts';

/** A server of a test file's own, and the commands that speak to it. */
export async function startSourceCommands() {
  const server = await startServing();
  const withUrl = (options: RunOptions = {}): RunOptions => ({ ...options, env: { TOOLCRIB_URL: server.url, ...options.env } });
  const run = (args: string[], options?: RunOptions) => runToolcrib(args, withUrl(options));
  return {
    server,
    run,
    start: (args: string[], options?: RunOptions) => startToolcrib(args, withUrl(options)),
    /** Adds the fixture server in one of its modes under this name. */
    add: (name: string, mode: string[], options: string[] = []) => run(addFixture(name, mode, options)),
    // Tests look into what they expect; a wrong guess fails the test.
    // oxlint-disable-next-line typescript/no-explicit-any
    async json(args: string[]): Promise<any> {
      const { stdout } = await run([...args, '--json']);
      return JSON.parse(stdout);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

export function addFixture(name: string, mode: string[], options: string[] = []): string[] {
  return ['add', '--name', name, ...options, '--', process.execPath, fixtureServer, ...mode];
}
