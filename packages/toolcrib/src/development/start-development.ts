import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Crib } from '../crib.ts';
import { createDevIssuer, type DevIssuer } from '../identity/development/dev-issuer.ts';
import { CribError } from '../model/crib-error.ts';
import { isLoopbackHost } from '../net/is-loopback-host.ts';
import { addDevRoutes } from './dev-routes.ts';
import { developmentActor } from './development-actor.ts';
import { restingDemos } from './end-development.ts';
import { addPizzeriaRoutes } from './pizzeria-routes.ts';
import { demoSourceId, placeDemo } from './place-demo.ts';
import { hasPizzeria, placePizzeria } from './place-pizzeria.ts';
import { restoreDemos } from './restore-demos.ts';
import type { Route } from '../http/route.ts';
import { demoRoutes } from './demo-routes.ts';
import { seedDevelopment } from './seed-development.ts';

/** What a server without a configured issuer has in addition. */
interface Development {
  issuer: DevIssuer;
  hasDemo: boolean;
  hasPizzeria: boolean;
  /** Beside those of the OpenAPI document. */
  routes: Route[];
  addRoutes(app: FastifyInstance): void;
  /** Once the door is open: one of them is behind it. */
  placeDemos(): Promise<void>;
}

interface DevelopmentConfig {
  host: string;
  dataDir: string;
  /** Whether the demos are brought along. */
  demo?: boolean;
}

export async function startDevelopment(config: DevelopmentConfig, crib: Crib, baseUrl: string): Promise<Development> {
  if (!isLoopbackHost(new URL(baseUrl).hostname)) {
    throw new CribError(
      'VALIDATION_ERROR',
      `Without --issuer the server is for development and listens on loopback only, not on ${config.host}`,
    );
  }
  const issuer = await createDevIssuer({ issuer: `${baseUrl}/dev`, stateFile: join(config.dataDir, 'dev-issuer.json') });
  const { demo = false } = config;
  const isNew = await seedDevelopment(crib, { demo });
  const resting = demo ? await restingDemos(crib) : [];
  const hasDemo = demo && (isNew || resting.includes(demoSourceId) || crib.inventory.sources.get(demoSourceId)?.enabled === true);
  return {
    issuer,
    hasDemo,
    hasPizzeria: demo && (isNew || hasPizzeria(crib) || resting.some((id) => id !== demoSourceId)),
    routes: demoRoutes({
      async restoreDemos() {
        const restored = await restoreDemos(crib, { baseUrl, issuer, demo });
        return restored.map(({ id, namespace }) => ({ id, namespace }));
      },
    }),
    addRoutes(app) {
      addDevRoutes(app, issuer);
      if (demo) addPizzeriaRoutes(app, { baseUrl, issuer, file: join(config.dataDir, 'demo-orders.json') });
    },
    async placeDemos() {
      if (hasDemo) await placeDemo(crib, { isNew });
      if (demo) await placePizzeria(crib, { baseUrl, issuer, isNew });
      for (const id of resting) await crib.sources.setEnabled(developmentActor, id, true);
    },
  };
}
