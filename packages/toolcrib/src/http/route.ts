import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { ErrorCode } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';

/** Who may use a route: anybody, every verified caller, or administrators. */
type RouteAccess = 'public' | 'caller' | 'administrator';

export interface RouteResponse {
  description: string;
  /** Absent for an answer without a body. */
  schema?: z.ZodType;
  contentType?: string;
  /** The answer for callers that ask for `text/event-stream`. */
  events?: string;
  headers?: Record<string, string>;
  /** OpenAPI links to follow-up requests: by operation id, an expression for its `id` parameter, or one for each parameter. */
  links?: Record<string, string | Record<string, string>>;
}

/** What a handler works with: everything parsed, the caller known. */
interface RouteInput<Params, Query, Body> {
  principal: Principal;
  params: Params;
  query: Query;
  body: Body;
  request: FastifyRequest;
  reply: FastifyReply;
}

/** One endpoint as data: the server is built from it, and so is the OpenAPI document. */
export interface Route<Params = unknown, Query = unknown, Body = unknown> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** In OpenAPI's form: `/api/groups/{id}`. */
  path: string;
  operationId: string;
  summary: string;
  description?: string;
  tag: string;
  access: RouteAccess;
  params?: z.ZodType<Params>;
  query?: z.ZodType<Query>;
  body?: z.ZodType<Body>;
  /** In place of `body`: what a body means that may be any JSON, or plain text, or not there. The handler reads it from the request. */
  anyBody?: string;
  /** [EXEC-7] Whether a request costs so much more than it takes to send that its caller has a rate for it. */
  rated?(query: Query): boolean;
  /** How large the body may be, where that is more than usual. It is only read once the caller is known to have access. */
  bodyLimitBytes?: number;
  /** A body to begin with. */
  example?: object;
  headers?: z.ZodObject;
  responses: Record<number, RouteResponse>;
  /** Beside those that every route of its access can give. */
  errors?: ErrorCode[];
  /** Answers by returning a body, or through `reply`. */
  handle(input: RouteInput<Params, Query, Body>): unknown;
}

/** Keeps the types of a route's schemas while it is written, and lets routes of all kinds stand in one list. */
export function defineRoute<Params = unknown, Query = unknown, Body = unknown>(route: Route<Params, Query, Body>): Route {
  return route;
}
