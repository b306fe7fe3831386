import type { FastifyReply, FastifyRequest } from 'fastify';

/** Pages of any origin may ask: nothing that a browser sends by itself is believed here. */
export function allowAnyOrigin(reply: FastifyReply): void {
  void reply.header('access-control-allow-origin', '*');
}

export function answerPreflight({ headers }: FastifyRequest, reply: FastifyReply): void {
  const asked = headers['access-control-request-headers'];
  allowAnyOrigin(reply);
  if (asked !== undefined) void reply.header('access-control-allow-headers', asked);
  void reply.header('access-control-allow-methods', 'GET, POST').header('access-control-max-age', '3600').code(204).send();
}
