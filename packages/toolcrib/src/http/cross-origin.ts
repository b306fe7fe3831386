import type { FastifyReply, FastifyRequest } from 'fastify';

const methods = 'GET, POST, PUT, PATCH, DELETE';
const requestHeaders = 'Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Traceparent, Tracestate';
const responseHeaders = 'ETag, Location, Retry-After, Idempotency-Replayed, Toolcrib-Call-Id, X-Trace-Id';

/**
 * Tells browsers that pages of the allowed origins may read what they get (Fetch standard, "CORS protocol"); the guard has refused all
 * others before. Returns true for a preflight, which is then answered. Credentials are not allowed: tokens come in a header of their own.
 */
export function createCrossOrigin(allowedOrigins: readonly string[]): (request: FastifyRequest, reply: FastifyReply) => boolean {
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()));
  return ({ method, headers }, reply) => {
    const { origin } = headers;
    if (origin === undefined || !origins.has(origin.toLowerCase())) return false;
    void reply.header('access-control-allow-origin', origin).header('vary', 'Origin');
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) {
      void reply.header('access-control-expose-headers', responseHeaders);
      return false;
    }
    void reply.header('access-control-allow-methods', methods).header('access-control-allow-headers', requestHeaders);
    void reply.header('access-control-max-age', '600').code(204).send();
    return true;
  };
}
