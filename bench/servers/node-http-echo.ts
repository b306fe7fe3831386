/** The floor: JSON in, JSON out, on `node:http` alone. */
import { createServer } from 'node:http';
import { echoAnswer } from './echo-answer.ts';

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end('{}');
    return;
  }
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (text += chunk));
  request.on('end', () => {
    const answer = JSON.stringify(echoAnswer(JSON.parse(text)));
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(answer) });
    response.end(answer);
  });
});
server.keepAliveTimeout = 600_000;
server.listen(Number(process.argv[2]), '127.0.0.1');
process.on('SIGTERM', () => process.exit());
