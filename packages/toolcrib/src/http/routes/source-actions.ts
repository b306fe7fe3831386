import { z } from 'zod';
import { refreshedSourceSchema, sourceSchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import { CribError } from '../../model/crib-error.ts';
import type { SourceRecord } from '../../model/source.ts';
import { defineRoute, type Route } from '../route.ts';
import { shownSource } from '../shown-source.ts';

const params = z.strictObject({ id: z.string().min(1).max(64) });
const tag = 'sources';
const access = 'administrator';

/** [BFF-6] Starting, stopping and refreshing sources by hand. */
export function sourceActionRoutes({ sources, supervisor, reportOf }: Pick<Crib, 'sources' | 'supervisor' | 'reportOf'>): Route[] {
  function supervised(id: string): SourceRecord {
    const source = sources.get(id);
    if (source.definition === null) throw new CribError('CONFLICT', 'The built-in tools are always running');
    return source;
  }

  /** One of the things that can be done to a source by hand. */
  function action(name: 'start' | 'stop' | 'restart', summary: string): Route {
    return defineRoute({
      method: 'POST',
      path: `/api/sources/{id}/${name}`,
      operationId: `${name}Source`,
      summary,
      tag,
      access,
      params,
      responses: { 200: { description: 'The source as it is now', schema: sourceSchema } },
      errors: ['NOT_FOUND', 'CONFLICT', 'NETWORK_ERROR', 'SERVICE_UNAVAILABLE'],
      async handle({ principal, params }) {
        const source = supervised(params.id);
        await sources.operate(principal, source.id, name);
        return shownSource(sources, source);
      },
    });
  }

  return [
    action('start', 'Starts a source and waits until it is running or has failed'),
    action('stop', 'Stops a source; its tools are off every list until it is started'),
    action('restart', 'Stops a source and starts it again'),
    defineRoute({
      method: 'POST',
      path: '/api/sources/{id}/refresh',
      operationId: 'refreshSource',
      summary: 'Asks a source for its tools again and reports the differences; on failure the known tools stay',
      tag,
      access,
      params,
      responses: { 200: { description: 'The source as it is now, and what was found', schema: refreshedSourceSchema } },
      errors: ['NOT_FOUND', 'CONFLICT', 'NETWORK_ERROR', 'SERVICE_UNAVAILABLE'],
      async handle({ params }) {
        const source = supervised(params.id);
        await supervisor.refresh(source.id);
        return { ...shownSource(sources, source), report: reportOf(source.id) };
      },
    }),
  ];
}
