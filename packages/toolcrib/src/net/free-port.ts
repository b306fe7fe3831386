import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port of this address that nothing listens on at the moment. Use it soon. */
export async function freePort(host: string): Promise<number> {
  const probe = createServer().listen(0, host);
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
