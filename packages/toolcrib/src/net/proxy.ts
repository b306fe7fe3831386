import https from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { CribError } from '../model/crib-error.ts';
import { isWithin, parseIp, parseRange } from './ip-address.ts';
import { isLoopbackHost } from './is-loopback-host.ts';
import { http } from './node-http.ts';
import { UnreachableError } from './request-failure.ts';

/** The proxy that all outgoing requests of a company go through. The operator configures its address. */
export interface Proxy {
  readonly url: URL;
  /** `Proxy-Authorization`, where the proxy needs a login. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether this destination is reached without the proxy. */
  bypassed(target: URL): boolean;
  /** A tunnel through the proxy to another machine's port (RFC 9110 §9.3.6). */
  tunnel(authority: string, secureContext: SecureContext | undefined): Promise<Socket>;
}

const connectTimeoutMs = 10_000;

/** `noProxy` lists host names (with their subdomains), addresses, ranges of addresses, or `*`; each may have a port to mean only that. */
export function createProxy(address: string, noProxy: readonly string[]): Proxy {
  const url = parseProxyUrl(address);
  const { username, password } = url;
  const authorization = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const headers: Record<string, string> = username === '' && password === '' ? {} : { 'proxy-authorization': `Basic ${authorization}` };
  const exceptions = noProxy
    .map((entry) =>
      entry
        .trim()
        .toLowerCase()
        .replace(/^\*?\./, ''),
    )
    .filter((entry) => entry !== '');

  return {
    url,
    headers,
    bypassed(target) {
      // For the proxy, this would be its own machine.
      if (isLoopbackHost(target.hostname)) return true;
      const host = target.hostname.replace(/\.$/, '');
      const port = target.port === '' ? (target.protocol === 'https:' ? '443' : '80') : target.port;
      const address = parseIp(host.replaceAll(/^\[|\]$/g, ''));
      const named = (name: string) => {
        const range = address === undefined ? undefined : parseRange(name.replaceAll(/^\[|\]$/g, ''));
        if (address !== undefined && range !== undefined) return isWithin(address, range);
        return name === '*' || host === name || host.endsWith(`.${name}`);
      };
      return exceptions.some((entry) => named(entry) || (entry.endsWith(`:${port}`) && named(entry.slice(0, -port.length - 1))));
    },
    async tunnel(authority, secureContext) {
      const { client, port } = url.protocol === 'https:' ? { client: https, port: 443 } : { client: http, port: 80 };
      const request = client.request({
        host: url.hostname.replaceAll(/^\[|\]$/g, ''),
        port: url.port === '' ? port : Number(url.port),
        method: 'CONNECT',
        path: authority,
        headers: { host: authority, ...headers },
        agent: false,
        ...(secureContext === undefined ? {} : { secureContext }),
      });
      const { promise, resolve, reject } = Promise.withResolvers<Socket>();
      // The timeout ends with the connection: what goes through it may take as long as it likes.
      const timer = setTimeout(() => request.destroy(Object.assign(new Error(), { code: 'ETIMEDOUT' })), connectTimeoutMs);
      // It may fail again after it has been given up.
      request.on('error', (cause) => reject(proxyUnreachable(url, cause)));
      request.once('response', (response) => {
        response.destroy();
        reject(proxyRefusal(url, response.statusCode ?? 0));
      });
      request.once('connect', (response, socket, head) => {
        if (response.statusCode === 200 && head.length === 0) return resolve(socket);
        socket.destroy();
        reject(proxyRefusal(url, response.statusCode ?? 0));
      });
      request.end();
      return promise.finally(() => clearTimeout(timer));
    },
  };
}

/** The address is never repeated: there may be a password in it. */
function parseProxyUrl(address: string): URL {
  const url = URL.parse(address);
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '' && url.hash === '') return url;
  throw new CribError('VALIDATION_ERROR', 'The proxy must be an address such as http://proxy.example.org:3128', { field: 'proxy' });
}

export function proxyRefusal({ host }: URL, status: number): CribError {
  const why = status === 407 ? 'it wants a user name and password, or different ones: check --proxy' : `it answered ${status}`;
  return new CribError('SERVICE_UNAVAILABLE', `The proxy ${host} does not let us through: ${why}`, {
    retryable: false,
    upstreamStatus: status,
  });
}

/** Names the proxy: with the name of the destination, the message would be misleading. */
export function proxyUnreachable({ host }: URL, cause: Error): UnreachableError {
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
  return new UnreachableError(`The proxy ${host} cannot be reached (${code}): check --proxy`, { cause });
}
