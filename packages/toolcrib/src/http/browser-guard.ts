import type { FastifyReply, FastifyRequest } from 'fastify';
import { CribError } from '../model/crib-error.ts';
import { isLoopbackHost } from '../net/is-loopback-host.ts';

export interface HostGuardConfig {
  /** The address the server is bound to. */
  host: string;
  allowedHosts: readonly string[];
  allowedOrigins: readonly string[];
}

/**
 * Refuses requests that a browser was tricked into sending: a foreign name that resolves to us (DNS rebinding), or a page of another
 * origin. Returns what is wrong, or undefined.
 */
export function createHostGuard(config: HostGuardConfig): (host: string | undefined, origin: string | undefined) => CribError | undefined {
  const hosts = new Set([config.host, ...config.allowedHosts].map((host) => host.toLowerCase()));
  const origins = new Set(config.allowedOrigins.map((origin) => origin.toLowerCase()));
  /** Almost every request carries a Host header seen before. */
  const known = new Map<string, boolean>();

  function allows(host: string): boolean {
    const url = URL.parse(`http://${host}`);
    if (url === null || url.pathname !== '/' || url.username !== '') return false;
    const name = url.hostname.toLowerCase();
    return isLoopbackHost(name) || hosts.has(name) || hosts.has(url.host.toLowerCase()) || hosts.has(name.replaceAll(/^\[|\]$/g, ''));
  }

  return function refusalFor(host, origin) {
    let allowed = host === undefined ? false : known.get(host);
    if (allowed === undefined) {
      allowed = allows(host ?? '');
      if (known.size > 1000) known.clear();
      known.set(host ?? '', allowed);
    }
    if (!allowed) {
      return new CribError('FORBIDDEN', 'This server does not answer under that Host; the operator may add it with --allowed-host');
    }
    if (origin !== undefined && !sameOrigin(origin, host ?? '') && !origins.has(origin.toLowerCase())) {
      return new CribError('FORBIDDEN', 'Pages of that Origin may not use this server; the operator may add it with --allowed-origin');
    }
    return undefined;
  };
}

const methods = 'GET, POST, PUT, PATCH, DELETE';
const requestHeaders =
  'Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, Traceparent, Tracestate';
const responseHeaders = 'ETag, Location, Mcp-Session-Id, Retry-After, Idempotency-Replayed, Toolcrib-Call-Id, WWW-Authenticate, X-Trace-Id';
/** Those with arguments of an MCP tool, which each tool names. */
const parameterHeader = /^mcp-param-[\w-]{1,100}$/i;
const mostParameterHeaders = 20;

/**
 * Tells browsers that pages of the allowed origins may read what they get (Fetch standard, "CORS protocol"); the guard has refused all
 * others before. Returns true for a preflight, which is then answered. Credentials are not allowed: tokens come in a header of their own.
 */
export function createCrossOrigin(allowedOrigins: readonly string[]): (request: FastifyRequest, reply: FastifyReply) => boolean {
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()));
  return function answerCrossOrigin({ method, headers }, reply) {
    const { origin } = headers;
    if (origin === undefined || !origins.has(origin.toLowerCase())) return false;
    void reply.header('access-control-allow-origin', origin).header('vary', 'Origin');
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) {
      void reply.header('access-control-expose-headers', responseHeaders);
      return false;
    }
    void reply.header('access-control-allow-methods', methods).header('access-control-allow-headers', allowedHeaders(headers));
    void reply.header('access-control-max-age', '600').code(204).send();
    return true;
  };
}

function allowedHeaders({ 'access-control-request-headers': asked = '' }: FastifyRequest['headers']): string {
  const names = asked.split(',', 100).map((name) => name.trim());
  return [requestHeaders, ...names.filter((name) => parameterHeader.test(name)).slice(0, mostParameterHeaders)].join(', ');
}

/** Keeps proxies from storing an answer and browsers from guessing its type. A route may set other headers afterwards. */
export function protect(reply: FastifyReply): void {
  void reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
}

function sameOrigin(origin: string, host: string): boolean {
  return URL.parse(origin)?.host === host.toLowerCase();
}
