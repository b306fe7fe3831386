import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { RefusalLog } from '../administration/refusal-log.ts';
import { CribError } from '../model/crib-error.ts';
import type { Tracer } from '../model/tracing.ts';
import { http } from '../net/node-http.ts';
import { addRoute, type RouteParts } from './add-route.ts';
import { takeAnyBody } from './any-body.ts';
import { createCrossOrigin, createHostGuard, protect, type HostGuardConfig } from './browser-guard.ts';
import type { Doors } from './doors/open-doors.ts';
import type { Metrics } from './metrics.ts';
import { createPlainCalls, type Handle, type PlainCallsInput } from './plain-calls.ts';
import { parseJsonBody } from './read-request.ts';
import { addRequestTraces } from './request-traces.ts';
import type { Route } from './route.ts';
import { createSendError, type SendError } from './send-error.ts';
import { answerUnreadable, serverOptions } from './server-options.ts';

export interface AppInput extends Omit<RouteParts, 'sendError'> {
  routes: readonly Route[];
  /** Runs plain calls, which do not take the way through the framework. */
  executor: PlainCallsInput['executor'];
  guard: HostGuardConfig;
  /** Addresses and ranges of proxies whose `X-Forwarded-For` is believed. */
  trustedProxies: readonly string[];
  /** Aborts when the server begins to stop. */
  closing: AbortSignal;
  /** [SEC-4] Told of every request that is refused for who sent it. */
  onRefused: RefusalLog['note'];
  /** Where threads listen in place of the app. */
  doors?: Pick<Doors, 'server'> | undefined;
  /** Takes requests of others before the framework does. */
  otherLane?: ((handle: Handle) => Handle) | undefined;
  /** Adds what is no route of the API. */
  addOthers?: ((app: FastifyInstance, sendError: SendError) => void) | undefined;
  metrics: Metrics;
  logger: Logger;
  tracer?: Tracer | undefined;
}

/** Spans and the lines of the log are made by hooks of the framework. */
export function takesPlainCalls({ tracer, logger }: Pick<AppInput, 'tracer' | 'logger'>): boolean {
  return tracer === undefined && !logger.isLevelEnabled('debug');
}

/** The HTTP door: checks, parses and translates, and leaves the rest to the routes. */
export function createApp(input: AppInput): FastifyInstance {
  const guard = createHostGuard(input.guard);
  const crossOrigin = createCrossOrigin(input.guard.allowedOrigins);
  const sendError = createSendError(input);
  const app = Fastify({
    bodyLimit: input.bodyLimitBytes,
    trustProxy: input.trustedProxies.length === 0 ? false : [...input.trustedProxies],
    serverFactory(framework) {
      const takesLanes = takesPlainCalls(input);
      const handle = (takesLanes && input.otherLane?.(framework)) || framework;
      if (input.doors !== undefined) return input.doors.server(handle);
      return http.createServer(serverOptions, takesLanes ? createPlainCalls({ ...input, guard }, handle) : handle);
    },
    forceCloseConnections: 'idle',
    // The framework would otherwise answer both in its own form.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 600 },
    frameworkErrors: (error, _request, reply) => sendError(reply, error),
    clientErrorHandler: answerUnreadable,
  });
  app.decorateRequest('principal', null);
  addRequestTraces(app, input);
  takeJson(app);

  app.addHook('onRequest', function admitRequest(request, reply, done) {
    protect(reply);
    const refused = request.routeOptions.config.guarded === false ? undefined : refusedFor(request);
    if (refused !== undefined) sendError(reply, refused);
    else if (request.routeOptions.config.anyOrigin === true || !crossOrigin(request, reply)) done();
  });

  function refusedFor({ headers }: FastifyRequest): CribError | undefined {
    // New connections are refused by then; this is for what comes over those that are still open.
    if (input.closing.aborted) return new CribError('SERVICE_UNAVAILABLE', 'The server is stopping: try again', { retryAfterMs: 1000 });
    return guard(headers.host, headers.origin);
  }

  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0]?.slice(0, 200);
    sendError(reply, new CribError('NOT_FOUND', `There is no ${request.method} ${path}; /api/openapi.json lists what there is`));
  });
  app.setErrorHandler((error, _request, reply) => sendError(reply, error));

  input.addOthers?.(app, sendError);
  const parts = { ...input, sendError };
  for (const route of input.routes) {
    if (route.anyBody === undefined) {
      addRoute(app, route, parts);
      continue;
    }
    void app.register((scope, _options, done) => {
      takeAnyBody(scope);
      addRoute(scope, route, parts);
      done();
    });
  }
  return app;
}

function takeJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, function parseJson(_request, body, done) {
    let parsed: unknown;
    try {
      parsed = parseJsonBody(body as string);
    } catch (error) {
      done(error as Error);
      return;
    }
    done(null, parsed);
  });
}
