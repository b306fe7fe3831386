import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { startTokenIssuer } from '../fixtures/token-issuer.ts';
import type { Shown } from './person.ts';

type Issuer = Awaited<ReturnType<typeof startTokenIssuer>>;

/** Makes the issuer of a test sign people in, in every way that a test wants. */
export function scriptProvider(issuer: Issuer) {
  const codes = new Map<string, string>();
  const usable = new Set<string>();
  const refreshes: string[] = [];
  const script = {
    sub: 'user-1',
    sid: 'session-1',
    /** Whether a refresh succeeds, is refused, or fails for another reason. */
    refresh: 'good' as 'good' | 'refused' | 'broken',
    /** More claims of the access token, and of the ID token. */
    access: {} as Record<string, unknown>,
    id: {} as Record<string, unknown>,
    givesRefreshTokens: true,
  };
  const json = (status: number, body: unknown) => ({ status, body });

  async function answerToken(form: URLSearchParams) {
    const refreshToken = form.get('refresh_token');
    if (refreshToken !== null) {
      refreshes.push(refreshToken);
      if (script.refresh === 'broken') return json(500, { error: 'server_error' });
      if (script.refresh === 'refused' || !usable.delete(refreshToken)) return json(400, { error: 'invalid_grant' });
    }
    const nonce = refreshToken === null ? codes.get(form.get('code') ?? '') : undefined;
    if (refreshToken === null && nonce === undefined) return json(400, { error: 'invalid_grant' });
    codes.delete(form.get('code') ?? '');
    const next = randomUUID();
    usable.add(next);
    const { sub, sid } = script;
    return json(200, {
      access_token: await issuer.sign({ sub, sid, jti: randomUUID(), realm_access: { roles: ['toolcrib-user'] }, ...script.access }),
      id_token: await issuer.sign({ sub, sid, aud: 'toolcrib-login', nonce, ...script.id }, { header: { typ: 'JWT' } }),
      ...(script.givesRefreshTokens ? { refresh_token: next } : {}),
      token_type: 'Bearer',
      expires_in: 300,
    });
  }

  issuer.answers.discovery = (_request, response) => {
    const { issuer: iss } = issuer;
    const metadata = { issuer: iss, jwks_uri: `${iss}/keys`, token_endpoint: `${iss}/token`, authorization_endpoint: `${iss}/authorize` };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        ...metadata,
        authorization_response_iss_parameter_supported: true,
        response_types_supported: ['code'],
        id_token_signing_alg_values_supported: ['ES256'],
      }),
    );
  };
  issuer.answers.token = (request, response) => {
    void readForm(request)
      .then(answerToken)
      .then(({ status, body }) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)));
  };

  return {
    script,
    /** The refresh tokens that were sent. */
    refreshes,
    /** Where somebody who has signed in is sent back to. What is given replaces what belongs there; null leaves it out. */
    answer({ url }: Shown, params: Record<string, string | null> = {}): string {
      const asked = new URL(url).searchParams;
      const code = randomUUID();
      codes.set(code, asked.get('nonce') ?? '');
      const back = new URL(asked.get('redirect_uri') ?? '');
      const all = { code, state: asked.get('state'), iss: issuer.issuer, ...params };
      for (const [name, value] of Object.entries(all)) if (value !== null) back.searchParams.set(name, value);
      return back.href;
    },
  };
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return new URLSearchParams(Buffer.concat(chunks).toString());
}
