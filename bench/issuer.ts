import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface BenchIssuer extends Disposable {
  readonly issuer: string;
  /** A signed token that is valid for an hour. */
  mint(claims: Record<string, unknown>): string;
}

/** A real issuer with a real ES256 key, which the server must fetch to verify a token. */
export async function startIssuer(): Promise<BenchIssuer> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const kid = randomUUID();
  const server = createServer((request, response) => {
    const keys = [{ ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' }];
    const answer = (body: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    if (request.url === '/token') return void exchange(request, answer);
    answer(request.url === '/keys' ? { keys } : { issuer, jwks_uri: `${issuer}/keys`, token_endpoint: `${issuer}/token` });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  function mint(claims: Record<string, unknown>): string {
    const now = Math.floor(Date.now() / 1000);
    const header = { alg: 'ES256', typ: 'at+jwt', kid };
    const payload = { iss: issuer, aud: 'toolcrib-gateway', azp: 'bench', iat: now, exp: now + 3600, jti: randomUUID(), ...claims };
    const signed = `${encode(header)}.${encode(payload)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }

  /** RFC 8693 for every client: the same subject, for the requested audience. */
  async function exchange(request: IncomingMessage, answer: (body: object) => void): Promise<void> {
    let text = '';
    for await (const chunk of request.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
    const form = new URLSearchParams(text);
    const [, payload = ''] = (form.get('subject_token') ?? '').split('.');
    const { sub } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string };
    answer({ access_token: mint({ sub, aud: form.get('audience') }), token_type: 'Bearer', expires_in: 3600 });
  }

  return {
    issuer,
    mint,
    [Symbol.dispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
