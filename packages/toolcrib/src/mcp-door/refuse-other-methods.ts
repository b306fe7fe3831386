import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Lets a request go on, or answers it. */
type Enter = (request: FastifyRequest, reply: FastifyReply, next: () => void) => void;

/**
 * Answers requests of other methods with 405 and `Allow` (RFC 9110 §15.5.6), and `OPTIONS` with `Allow` alone. `HEAD` has to `enter` first:
 * Gemini CLI asks for the challenge with it.
 */
export function refuseOtherMethods(app: FastifyInstance, url: string, allowed: readonly string[], enter?: Enter): void {
  const allow = [...allowed, 'OPTIONS'].join(', ');
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url,
    onRequest(request, reply) {
      const refuse = () => void reply.code(405).type('text/plain; charset=utf-8').send(`This address takes ${allow}\n`);
      void reply.header('allow', allow);
      if (request.method === 'OPTIONS') void reply.code(204).send();
      else if (request.method === 'HEAD' && enter !== undefined) enter(request, reply, refuse);
      else refuse();
    },
    handler: () => undefined,
  });
}
