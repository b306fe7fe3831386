import { setFlagsFromString } from 'node:v8';
import { releaseStartMemory } from '../server/release-start-memory.ts';
import type { ServeConfig } from '../server/server-config.ts';
import { CribError } from '../model/crib-error.ts';
import { defineCommand } from './command.ts';
import { givenByFiles } from './given-by-files.ts';
import { serveBanner } from './serve-banner.ts';
import { serveConfig } from './serve-config.ts';
import { serveOptions } from './serve-options.ts';
import { stopSignal } from './stop-signal.ts';
import { complain, print } from './terminal.ts';

export const serve = defineCommand({
  operands: '',
  operandCount: [0, 0],
  options: serveOptions,
  notes: [
    'Without --issuer, the server is in development mode: it issues tokens itself, to everybody who can read its data folder.',
    'Options override the environment variables in brackets, and these override the file of --config.',
  ],
  examples: [
    'toolcrib serve',
    'toolcrib serve --port 0 --data /tmp/crib',
    'toolcrib serve --config toolcrib.yaml',
    'toolcrib serve --host 0.0.0.0 --issuer https://sso.example.org/realms/acme --database postgres://crib@db/crib',
  ],
  async run(asked) {
    const { given, ...rules } = await givenByFiles(asked);
    const config = { ...serveConfig(given, { production: process.env.NODE_ENV === 'production', env: process.env }), ...rules };
    // Before the start, so that no signal during the start is lost.
    const stopped = stopSignal();
    const running = await start(config);
    if (running === undefined) return 1;
    print(await serveBanner(config, running));
    const stopWaiting = releaseStartMemory();
    const broken = await Promise.race([stopped, running.broken]);
    stopWaiting();
    if (broken !== undefined) complain(broken.message);
    print('Stopping…');
    await running.close();
    return broken === undefined ? 0 : 1;
  },
});

async function start(config: ServeConfig) {
  // V8 learns from the first calls, of which many are waiting at a time, that what a call allocates lives long, and then allocates all of it in the
  // old generation, where every dead call keeps later ones alive: 6 kB of 15 survived a minor collection, and 0.5 do without this.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // Loading makes much short-lived garbage. V8 would grow its nursery for it by 20 MB, and by 100 where there are many tools to index, which an
  // idle server then keeps. It may grow again after that, when there are requests and it is worth the memory.
  setFlagsFromString('--semi-space-growth-factor=1');
  try {
    // Imported here, so that the help does not wait for the whole server to load.
    const { startServer } = await import('../server/start-server.ts');
    const running = await startServer(config);
    void running.indexed.then(() => setFlagsFromString('--semi-space-growth-factor=2'));
    return running;
  } catch (error) {
    complain(reasonFor(error, config));
    if (['debug', 'trace'].includes(config.logLevel)) console.error(error);
    return undefined;
  }
}

function reasonFor(error: unknown, { host, port }: ServeConfig): string {
  if (error instanceof CribError) return error.message;
  const { code, message } = error as { code?: unknown; message?: unknown };
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} of ${host} is taken: stop what listens there, or choose another with --port`;
    case 'EACCES':
      return `This account may not listen on port ${port}: choose one above 1023 with --port`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine: choose another with --host`;
    default:
      return `The server cannot start: ${String(message ?? error)}. Run it with --log-level debug to see where.`;
  }
}
