import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { TokenVerifier } from '../identity/verify-token.ts';
import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import type { ClaimCheck } from '../policy/claim-check.ts';
import type { RequestRate } from '../resilience/request-rate.ts';
import { callerAddress } from './caller-address.ts';
import { bearerToken, parse } from './read-request.ts';
import type { Route } from './route.ts';
import type { SendError } from './send-error.ts';

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
  }
  interface FastifyContextConfig {
    /** False for health checks, which are answered under every name and until the end. */
    guarded?: boolean;
    /** Answers pages of any origin itself. */
    anyOrigin?: boolean;
  }
}

export interface RouteParts {
  verifier: TokenVerifier;
  /** [BFF-6] Who administers. */
  administers: ClaimCheck;
  /** [EXEC-7] Asked before every request that is `rated`. */
  requestRate: RequestRate;
  bodyLimitBytes: number;
  sendError: SendError;
}

/** One route in Fastify: knows its caller, parses what was sent, and hands it to the handler. */
export function addRoute(app: FastifyInstance, route: Route, parts: RouteParts): void {
  app.route({
    method: route.method,
    url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { guarded: route.tag !== 'health' },
    bodyLimit: Math.max(parts.bodyLimitBytes, route.bodyLimitBytes ?? 0),
    ...(route.access === 'public' ? {} : { onRequest: createAuthenticate(route, parts) }),
    handler(request, reply) {
      // A public route has no caller and never looks at one.
      const principal = request.principal as Principal;
      const query = parseQuery(route, request.query);
      if (route.rated?.(query) === true) parts.requestRate(principal);
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

function createAuthenticate(route: Route, { verifier, administers, sendError }: RouteParts) {
  // Calls have no room for it in their record, and their path none for a copy.
  const changes = route.method !== 'GET' && !route.path.startsWith('/api/bff/');
  return function authenticate(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
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
