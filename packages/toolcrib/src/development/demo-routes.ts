import { z } from 'zod';
import { defineRoute, type Route } from '../http/route.ts';

interface DemoRoutesInput {
  /** Gives the sources that are there again. */
  restoreDemos(): Promise<{ id: string; namespace: string }[]>;
}

const restoredSchema = z.strictObject({ sources: z.array(z.strictObject({ id: z.string(), namespace: z.string() })) });

/** Routes of a development server only; the OpenAPI document does not list them. */
export function demoRoutes({ restoreDemos }: DemoRoutesInput): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/dev/demo',
      operationId: 'restoreDemo',
      summary: 'Brings back the sources that came with the development server',
      tag: 'development',
      access: 'administrator',
      responses: { 200: { description: 'They are there again, and being started', schema: restoredSchema } },
      handle: async () => ({ sources: await restoreDemos() }),
    }),
  ];
}
