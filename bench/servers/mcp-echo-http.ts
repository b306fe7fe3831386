/** The same MCP echo over streamable HTTP: no sessions, no streams, each answer is one JSON document. */
import { createServer } from 'node:http';
import { mcpEchoAnswer } from './mcp-echo-answer.ts';

const server = createServer((request, response) => {
  if (request.url === '/healthz') return void response.end('{}');
  if (request.method !== 'POST') return void response.writeHead(405).end();
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (text += chunk));
  request.on('end', () => {
    const answer = mcpEchoAnswer(text);
    if (answer === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) });
    response.end(answer);
  });
});
server.keepAliveTimeout = 600_000;
server.listen(Number(process.argv[2]), '127.0.0.1');
process.on('SIGTERM', () => process.exit());
