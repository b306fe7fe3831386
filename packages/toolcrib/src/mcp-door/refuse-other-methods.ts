import type { FastifyInstance } from 'fastify';

/** Answers requests of other methods with 405 and `Allow` (RFC 9110 §15.5.6), and `OPTIONS` with `Allow` alone. */
export function refuseOtherMethods(app: FastifyInstance, url: string, allowed: readonly string[]): void {
  const allow = [...allowed, 'OPTIONS'].join(', ');
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url,
    onRequest(request, reply) {
      void reply.header('allow', allow);
      if (request.method === 'OPTIONS') void reply.code(204).send();
      else void reply.code(405).type('text/plain; charset=utf-8').send(`This address takes ${allow}\n`);
    },
    handler: () => undefined,
  });
}
