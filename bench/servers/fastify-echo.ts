/** The baseline: JSON in, JSON out, on plain Fastify without schemas or hooks. */
import Fastify from 'fastify';
import { echoAnswer } from './echo-answer.ts';

const app = Fastify({ keepAliveTimeout: 600_000 });
app.get('/healthz', () => Promise.resolve({ status: 'ok' }));
app.post('/api/bff/tools/call', (request, reply) => reply.send(echoAnswer(request.body)));
await app.listen({ host: '127.0.0.1', port: Number(process.argv[2]) });
process.on('SIGTERM', () => process.exit());
