import { freePort } from '../net/free-port.ts';
import type { ServeConfig } from './server-config.ts';

export interface Address {
  port: number;
  /** Where it listens. */
  baseUrl: string;
  /** Where callers reach it, without a slash at its end. */
  publicUrl: string;
}

/** The development issuer is named by the address of the server, which must therefore be known before anything is signed. */
export async function chooseAddress({ host, port: wanted, publicUrl }: ServeConfig): Promise<Address> {
  const port = wanted === 0 ? await freePort(host) : wanted;
  const baseUrl = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { port, baseUrl, publicUrl: (publicUrl ?? baseUrl).replace(/\/+$/, '') };
}
