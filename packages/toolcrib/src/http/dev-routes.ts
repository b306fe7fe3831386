import type { FastifyInstance } from 'fastify';
import type { DevIssuer } from '../identity/dev-issuer.ts';
import { OAuthError } from '../identity/oauth-error.ts';

/** [ID-1] The development issuer's own endpoints, in OAuth's forms. Only there in development mode, which is only there on loopback. */
export function addDevRoutes(app: FastifyInstance, issuer: DevIssuer): void {
  void app.register((scope, _options, done) => {
    scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, parsed) => {
      parsed(null, new URLSearchParams(body as string));
    });
    scope.get('/dev/jwks', () => Promise.resolve(issuer.jwks()));
    scope.get('/dev/.well-known/openid-configuration', () => Promise.resolve(issuer.metadata()));
    // Whoever is here can have the token of any user anyway.
    scope.get('/dev/client', (_request, reply) => reply.header('cache-control', 'no-store').send(issuer.gatewayCredentials()));
    scope.post('/dev/token', async (request, reply) => {
      void reply.header('cache-control', 'no-store');
      try {
        const body = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
        return await issuer.token(body, request.headers.authorization);
      } catch (error) {
        if (!(error instanceof OAuthError)) throw error;
        return reply.code(error.status).send(error.toJSON());
      }
    });
    done();
  });
}
