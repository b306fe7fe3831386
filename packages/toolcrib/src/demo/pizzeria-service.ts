/**
 * The pizzeria as a separate service: `pizzeria-service.ts ISSUER JWKS_ADDRESS PORT [FILE [BAKE_MS]]` accepts tokens of that issuer, keeps
 * its orders in that file and prints its address. It is self-contained: it uses no code of Toolcrib.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { createPizzeriaApi, pizzeriaAudience } from './pizzeria-api.ts';

const [issuer, jwks, port = '0', file, bakeMs = '3000'] = process.argv.slice(2);
if (issuer === undefined || jwks === undefined) throw new Error('Usage: pizzeria-service.ts ISSUER JWKS_ADDRESS PORT [FILE [BAKE_MS]]');
const keys = createRemoteJWKSet(new URL(jwks));
const longestBody = 65_536;

const server = createServer((request, response) => void serve(request, response));
server.listen(Number(port), '127.0.0.1', () => console.log(url()));

function url(): string {
  const address = server.address();
  return `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : port}`;
}

let opened: ReturnType<typeof createPizzeriaApi> | undefined;
const api = () =>
  (opened ??= createPizzeriaApi({
    url: url(),
    file,
    bakeMs: Number(bakeMs),
    verify: async (token) => (await jwtVerify(token, keys, { issuer, audience: pizzeriaAudience, typ: 'at+jwt' })).payload,
  }));

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const { status, headers, body } = await api().handle({
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      header: (name) => request.headers[name]?.toString(),
      body: await bodyOf(request),
    });
    response.writeHead(status, headers).end(body);
  } catch (error) {
    console.error(error);
    response.writeHead(500).end();
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) {
    body += String(chunk);
    if (body.length > longestBody) throw new Error(`The body is longer than ${longestBody} characters`);
  }
  return body;
}
