import type { FastifyInstance } from 'fastify';
import { jwtVerify } from 'jose';
import { createPizzeriaApi, pizzeriaAudience } from '../demo/pizzeria-api.ts';
import type { DevIssuer } from '../identity/development/dev-issuer.ts';

const place = '/demo/pizzeria';
const bakeMs = 3000;

interface PizzeriaRoutesInput {
  baseUrl: string;
  issuer: DevIssuer;
  /** Where its orders are kept. */
  file: string;
}

export const pizzeriaDocumentUrl = (baseUrl: string) => `${baseUrl}${place}/openapi.json`;

/**
 * A service that is no part of Toolcrib, for a first look at one that OpenAPI describes. It is called like any other, over HTTP and with a
 * token for itself. Only there in development mode.
 */
export function addPizzeriaRoutes(app: FastifyInstance, { baseUrl, issuer, file }: PizzeriaRoutesInput): void {
  const expected = { issuer: issuer.config.issuer, audience: pizzeriaAudience, algorithms: ['ES256'], typ: 'at+jwt' };
  const pizzeria = createPizzeriaApi({
    url: `${baseUrl}${place}`,
    bakeMs,
    file,
    verify: async (token) => (await jwtVerify(token, issuer.keySet, expected)).payload,
  });
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, parsed) => parsed(null, body));
    scope.route({
      method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      url: `${place}/*`,
      async handler(request, reply) {
        const { status, headers, body } = await pizzeria.handle({
          method: request.method,
          path: request.url.slice(place.length),
          header: (name) => request.headers[name]?.toString(),
          body: typeof request.body === 'string' ? request.body : '',
        });
        return reply.code(status).headers(headers).send(body);
      },
    });
    done();
  });
}
