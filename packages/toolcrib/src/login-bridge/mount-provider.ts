import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import type { BridgeAddress } from './bridge-address.ts';
import { bridgeHeaders } from './bridge-page.ts';

/**
 * Hands a request to the library, which then answers by itself. What the request says of its host, its scheme and its proxies is replaced by
 * what the operator has configured: no address in an answer follows a header.
 */
export function mountProvider(provider: () => Provider, { publicUrl }: BridgeAddress) {
  const { host, protocol } = new URL(publicUrl);
  return (path: string, request: FastifyRequest, reply: FastifyReply): void => {
    reply.hijack();
    const { raw } = request;
    raw.headers.host = host;
    raw.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    delete raw.headers['x-forwarded-host'];
    raw.url = path;
    for (const [name, value] of Object.entries(bridgeHeaders)) reply.raw.setHeader(name, value);
    void provider().callback()(raw, reply.raw);
  };
}
