import { ApiClient } from '../fixtures/api-client.ts';
import { devToken, temporaryDirectory } from '../running-server.ts';
import { startToolcrib } from './run-toolcrib.ts';

/** `toolcrib serve` on a free port, with data of its own and without the demo; resolves when it has printed all it prints at the start. */
export async function startServing(args: string[] = [], env: Record<string, string> = {}) {
  const data = await temporaryDirectory();
  const program = startToolcrib(['serve', '--port', '0', '--no-demo', '--data', data.path, ...args], { env });
  const banner = await program.printed('Ctrl-C stops');
  const url = /Address +(http:\S+)/.exec(banner)?.[1] ?? '';
  return {
    ...program,
    banner,
    url,
    data: data.path,
    /** A call that runs until it is cancelled; resolves when the server has begun it. */
    async beginLongCall() {
      const client = new ApiClient(url, await devToken(url, 'alice'));
      const { json } = await client.call('builtin:wait', { seconds: 300 }, { async: true });
      return { client, location: json.location as string };
    },
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await data[Symbol.asyncDispose]();
    },
  };
}
