import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { readTraceContext, traceIdOf } from '../model/trace-context.ts';
import type { Span, Tracer } from '../model/tracing.ts';
import { callerAddress } from './caller-address.ts';
import { traceOf } from './read-request.ts';

declare module 'fastify' {
  interface FastifyRequest {
    span: Span | null;
  }
}

/**
 * [OPS-1] A span and a line in the log for every request, under the pattern of its route: addresses may hold what nobody else should read.
 * Must be added before every other hook, so that what is refused is seen too.
 */
export function addRequestTraces(app: FastifyInstance, { tracer, logger }: { tracer?: Tracer | undefined; logger: Logger }): void {
  app.decorateRequest('span', null);
  if (tracer !== undefined) {
    app.addHook('onRequest', (request, reply, done) => {
      const { method, headers } = request;
      const { url: route, config } = request.routeOptions;
      // Asked every few seconds by programs, which nobody wants to find among the traces.
      if (config.guarded === false || route === '/metrics') return done();
      request.span = tracer.start(
        route === undefined ? method : `${method} ${route}`,
        readTraceContext(headers.traceparent, headers.tracestate),
        {
          kind: 'server',
          attributes: { 'http.request.method': method, 'http.route': route },
        },
      );
      void reply.header('x-trace-id', traceIdOf(request.span.context));
      done();
    });
    // Also where the caller went away before it was answered.
    app.addHook('onResponse', ({ span }, { statusCode }, done) => {
      span?.set({ 'http.response.status_code': statusCode });
      span?.end(statusCode >= 500 ? String(statusCode) : undefined);
      done();
    });
  }
  if (logger.isLevelEnabled('debug')) {
    app.addHook('onResponse', (request, { statusCode, elapsedTime }, done) => {
      const { id, method, routeOptions } = request;
      const ms = Math.round(elapsedTime * 1000) / 1000;
      const address = callerAddress(request);
      logger.debug({ request_id: id, ...traceIdIn(request), address, method, route: routeOptions.url, status: statusCode, ms }, 'request');
      done();
    });
  }
}

/** For a line in the log. */
export function traceIdIn(request: FastifyRequest): { trace_id?: string } {
  const trace = traceOf(request);
  return trace === undefined ? {} : { trace_id: traceIdOf(trace) };
}
