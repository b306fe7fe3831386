import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { RefusalLog } from '../administration/refusal-log.ts';
import type { RequestRate } from '../execution/request-rate.ts';
import { authenticationFailure } from '../identity/authentication-failure.ts';
import type { TokenVerifier } from '../identity/verify-token.ts';
import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import type { Tracer } from '../model/tracing.ts';
import type { ClaimCheck } from '../policy/claim-check.ts';
import { storageTrouble } from '../store/storage-trouble.ts';
import { takeAnyBody } from './any-body.ts';
import { bearerToken } from './bearer-token.ts';
import { callerAddress } from './caller-address.ts';
import { createCrossOrigin } from './cross-origin.ts';
import type { HostGuardConfig } from './host-guard.ts';
import { createHostGuard } from './host-guard.ts';
import { parseJsonBody } from './json-body.ts';
import type { Metrics } from './metrics.ts';
import { addRequestTraces, traceIdIn } from './request-traces.ts';
import type { Route } from './route.ts';
import { refusalOf } from './refusal-of.ts';
import { parse, toCribError } from './to-crib-error.ts';

export interface AppInput {
  routes: readonly Route[];
  verifier: TokenVerifier;
  /** [BFF-6] Who administers. */
  administers: ClaimCheck;
  guard: HostGuardConfig;
  /** Addresses and ranges of proxies whose `X-Forwarded-For` is believed. */
  trustedProxies: readonly string[];
  /** Aborts when the server begins to stop. */
  closing: AbortSignal;
  bodyLimitBytes: number;
  /** [SEC-4] Told of every request that is refused for who sent it. */
  onRefused: RefusalLog['note'];
  /** [EXEC-7] Asked before every request that is `rated`. */
  requestRate: RequestRate;
  metrics: Metrics;
  logger: Logger;
  tracer?: Tracer | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
  }
}

/** The HTTP door: checks, parses and translates, and leaves the rest to the routes. */
export function createApp(input: AppInput): FastifyInstance {
  const { verifier, administers, metrics, logger } = input;
  const guard = createHostGuard(input.guard);
  const crossOrigin = createCrossOrigin(input.guard.allowedOrigins);
  const app = Fastify({
    bodyLimit: input.bodyLimitBytes,
    trustProxy: input.trustedProxies.length === 0 ? false : [...input.trustedProxies],
    // A client that sends its request byte by byte must not hold a connection for ever.
    requestTimeout: 60_000,
    keepAliveTimeout: 75_000,
    forceCloseConnections: 'idle',
    // Both would be answered by the framework otherwise, in a form that is not ours.
    return503OnClosing: false,
    http: { requireHostHeader: false },
    routerOptions: { maxParamLength: 600 },
    frameworkErrors: (error, _request, reply) => sendError(reply, error),
    clientErrorHandler,
  });
  app.decorateRequest('principal', null);
  addRequestTraces(app, { tracer: input.tracer, logger });

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    let parsed: unknown;
    try {
      parsed = parseJsonBody(body as string);
    } catch (error) {
      done(error as Error);
      return;
    }
    done(null, parsed);
  });

  app.addHook('onRequest', (request, reply, done) => {
    protect(reply);
    const refused = request.routeOptions.config.guarded === false ? undefined : guardedAgainst(request);
    if (refused !== undefined) sendError(reply, refused);
    else if (!crossOrigin(request, reply)) done();
  });

  function guardedAgainst({ headers }: FastifyRequest): CribError | undefined {
    // New connections are refused by then; this is for what comes over those that are still open.
    if (input.closing.aborted) return new CribError('SERVICE_UNAVAILABLE', 'The server is stopping: try again', { retryAfterMs: 1000 });
    return guard(headers.host, headers.origin);
  }

  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0]?.slice(0, 200);
    sendError(reply, new CribError('NOT_FOUND', `There is no ${request.method} ${path}; /api/openapi.json lists what there is`));
  });
  app.setErrorHandler((error, _request, reply) => sendError(reply, error));

  function sendError(reply: FastifyReply, error: unknown): void {
    protect(reply);
    let refusal = toCribError(error);
    const trouble = storageTrouble(error);
    if (trouble !== undefined) {
      metrics.databaseFailed('request');
      logger.warn({ err: error, route: reply.request.routeOptions.url }, trouble);
    }
    if (refusal === undefined) {
      const { request } = reply;
      logger.error(
        { err: error, request_id: request.id, address: callerAddress(request), ...traceIdIn(request), route: request.routeOptions.url },
        'request failed',
      );
      refusal = new CribError('INTERNAL', `Something failed inside Toolcrib; the server's log has request ${reply.request.id}`);
    }
    const noted = refusalOf(reply.request, refusal);
    if (noted !== undefined) input.onRefused(noted);
    reply.request.span?.set({ 'toolcrib.error.code': refusal.code });
    if (refusal.code === 'UNAUTHENTICATED') {
      const { principal, headers } = reply.request;
      // Who is known may still lack a credential for something else.
      if (principal === null)
        metrics.authenticationFailed(headers.authorization === undefined ? 'missing' : authenticationFailure(refusal));
      void reply.header('www-authenticate', 'Bearer');
    }
    if (refusal.retryAfterMs !== undefined) void reply.header('retry-after', String(Math.max(1, Math.ceil(refusal.retryAfterMs / 1000))));
    void reply.code(refusal.httpStatus).type('application/json; charset=utf-8').send(JSON.stringify(refusal));
  }

  function authenticate(route: Route) {
    // Calls have no room for it in their record, and their path none for a copy.
    const changes = route.method !== 'GET' && !route.path.startsWith('/api/bff/');
    return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
      const admit = (principal: Principal) => {
        request.principal = changes ? { ...principal, address: callerAddress(request) } : principal;
        if (route.access === 'administrator' && !administers(principal)) {
          sendError(reply, new CribError('FORBIDDEN', 'This is for administrators: your token lacks the claim that makes one'));
        } else done();
      };
      try {
        const verified = verifier.verify(bearerToken(request.headers.authorization));
        if (verified instanceof Promise) verified.then(admit).catch((error: unknown) => sendError(reply, error));
        else admit(verified);
      } catch (error) {
        sendError(reply, error);
      }
    };
  }

  function addRoute(scope: FastifyInstance, route: Route): void {
    scope.route({
      method: route.method,
      url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      config: { guarded: route.tag !== 'health' },
      bodyLimit: Math.max(input.bodyLimitBytes, route.bodyLimitBytes ?? 0),
      ...(route.access === 'public' ? {} : { onRequest: authenticate(route) }),
      handler(request, reply) {
        // A public route has no caller and never looks at one.
        const principal = request.principal as Principal;
        const query = parseQuery(route, request.query);
        if (route.rated?.(query) === true) input.requestRate(principal);
        return route.handle({
          principal,
          params: route.params === undefined ? undefined : parse(route.params, request.params),
          query,
          body: route.body === undefined ? undefined : parse(route.body, givenBody(request)),
          request,
          reply,
        });
      },
    });
  }

  for (const route of input.routes) {
    if (route.anyBody === undefined) {
      addRoute(app, route);
      continue;
    }
    void app.register((scope, _options, done) => {
      takeAnyBody(scope);
      addRoute(scope, route);
      done();
    });
  }
  return app;
}

/** No answer is kept by anybody on its way, nor taken for something else than it says. Routes may say otherwise afterwards. */
function protect(reply: FastifyReply): void {
  void reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
}

const noQuery = z.strictObject({});

/** A parameter that nobody reads may be one the caller relies on. Health checks are asked by programs that add whatever they like. */
function parseQuery(route: Route, query: unknown): unknown {
  if (route.query !== undefined) return parse(route.query, query);
  if (Object.keys(query as object).length === 0) return undefined;
  return route.access === 'public' ? undefined : parse(noQuery, query);
}

function givenBody({ body }: FastifyRequest): unknown {
  if (body === undefined) throw new CribError('VALIDATION_ERROR', 'The body is missing: send a JSON object');
  return body;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    guarded?: boolean;
  }
}

const unreadable: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The address and the headers are too large: is an argument in the address or the token too long?',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request took too long to arrive',
};

/** What Node's own parser refuses never becomes a request; it gets the same form of answer all the same. */
function clientErrorHandler(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(new CribError('VALIDATION_ERROR', unreadable[error.code ?? ''] ?? 'This is not valid HTTP'));
  const head = [
    'HTTP/1.1 400 Bad Request',
    'content-type: application/json; charset=utf-8',
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\nconnection: close\r\n\r\n${body}`);
}
