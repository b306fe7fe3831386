/** The smallest service described by OpenAPI: `GET /echo?text=…` returns the text as JSON. */
import { createServer } from 'node:http';

const document = {
  openapi: '3.1.0',
  info: { title: 'Echo', version: '1.0.0' },
  security: [{ token: [] }],
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  paths: {
    '/echo': {
      get: {
        operationId: 'echo',
        summary: 'Gives a text back',
        parameters: [{ name: 'text', in: 'query', required: true, schema: { type: 'string', maxLength: 1000 } }],
        responses: { 200: { description: 'The text', content: { 'application/json': { schema: { type: 'object' } } } } },
      },
    },
  },
};

const server = createServer((request, response) => {
  const [path, query] = (request.url ?? '').split('?', 2);
  if (path === '/healthz') return void response.end('{}');
  const answer = JSON.stringify(path === '/openapi.json' ? document : { text: new URLSearchParams(query).get('text') });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) });
  response.end(answer);
});
server.keepAliveTimeout = 600_000;
server.listen(Number(process.argv[2]), '127.0.0.1');
process.on('SIGTERM', () => process.exit());
