import type { FastifyReply } from 'fastify';
import type { RunningCall } from '../execution/running-call.ts';

/** Calls whose answer can only be sent while their caller is there end with the caller. */
export function endWithCaller(calls: readonly RunningCall[], reply: FastifyReply): void {
  reply.raw.on('close', () => {
    if (!reply.raw.writableFinished) for (const call of calls) call.end('cancelled');
  });
}
