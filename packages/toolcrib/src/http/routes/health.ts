import { z } from 'zod';
import type { MetricsGuard } from '../metrics-guard.ts';
import type { Metrics } from '../metrics.ts';
import { CribError } from '../../model/crib-error.ts';
import { defineRoute, type Route } from '../route.ts';

export interface HealthRoutesInput {
  metrics: Metrics;
  metricsGuard: MetricsGuard;
  /** Aborts when the server begins to stop. */
  closing: AbortSignal;
  /** Why calls and changes are refused; none while they are accepted. */
  refusedBecause(): string[];
  /** Whose keys could not be fetched lately; asks nobody. */
  unreachableIssuers(): string[];
  /** Rejects when the database does not answer. */
  checkDatabase(): Promise<unknown>;
  openApi(): unknown;
}

/** A health check wants an answer soon, even when the database hangs. */
const databaseWithinMs = 2000;

const state = z.strictObject({ status: z.string() });
const readiness = state.extend({
  warnings: z.array(z.string()).optional().describe('Problems that do not keep the server from serving, but need attention'),
});

/** [BFF-7] For load balancers, Prometheus and people who want to know what there is. */
export function healthRoutes(input: HealthRoutesInput): Route[] {
  const { metrics, metricsGuard, closing, refusedBecause, unreachableIssuers, checkDatabase, openApi } = input;
  const access = 'public';
  return [
    defineRoute({
      method: 'GET',
      path: '/healthz',
      operationId: 'health',
      summary: 'The process is alive',
      tag: 'health',
      access,
      responses: { 200: { description: 'Alive', schema: state } },
      handle: () => Promise.resolve({ status: 'ok' }),
    }),
    defineRoute({
      method: 'GET',
      path: '/readyz',
      operationId: 'readiness',
      summary: 'The server can take requests',
      tag: 'health',
      access,
      responses: { 200: { description: 'Ready', schema: readiness } },
      errors: ['SERVICE_UNAVAILABLE'],
      async handle() {
        if (closing.aborted) throw new CribError('SERVICE_UNAVAILABLE', 'The server is stopping');
        const reasons = refusedBecause();
        if (reasons.length > 0) throw new CribError('SERVICE_UNAVAILABLE', reasons.join(' '), { retryAfterMs: 1000 });
        const silent = Promise.withResolvers<never>();
        const timer = setTimeout(() => silent.reject(new Error(`no answer within ${databaseWithinMs} ms`)), databaseWithinMs);
        await Promise.race([checkDatabase(), silent.promise])
          .catch((cause: unknown) => {
            throw new CribError('SERVICE_UNAVAILABLE', 'The database does not answer', { cause });
          })
          .finally(() => clearTimeout(timer));
        const warnings = unreachableIssuers().map((issuer) => `The keys of the issuer ${issuer} cannot be fetched`);
        return { status: 'ready', ...(warnings.length === 0 ? {} : { warnings }) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/metrics',
      operationId: 'metrics',
      summary: 'Metrics in the Prometheus text format',
      description:
        'Needs the token of --metrics-token. Without one, anybody may read metrics in development; with an issuer, they are not served here.',
      tag: 'service',
      access,
      responses: { 200: { description: 'Metrics', schema: z.string(), contentType: 'text/plain' } },
      errors: ['UNAUTHENTICATED', 'NOT_FOUND'],
      async handle({ request, reply }) {
        const refused = metricsGuard(request.headers.authorization);
        if (refused !== undefined) throw refused;
        return reply.type(metrics.contentType).send(await metrics.text());
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/openapi.json',
      operationId: 'openapi',
      summary: 'This document',
      tag: 'service',
      access,
      responses: { 200: { description: 'OpenAPI 3.1', schema: z.looseObject({ openapi: z.string() }) } },
      handle: () => openApi(),
    }),
  ];
}
