import type { Egress } from '../../net/egress.ts';
import type { Grant } from './connection-content.ts';
import { fetchRules } from './fetch-rules.ts';
import type { OAuthSettings } from './oauth-settings.ts';

const timeoutMs = 5000;

/** RFC 7009. The refresh token first: with it, most servers revoke all tokens that came from it. */
export async function revokeGrant(egress: Egress, settings: OAuthSettings, { server, tokens, client }: Grant): Promise<void> {
  const endpoint = server.metadata?.revocation_endpoint;
  if (endpoint === undefined) return;
  const request = egress.guardedFetch({ ...fetchRules(settings), timeoutMs });
  const { client_id, client_secret } = settings.client ?? client;
  const held = [
    ['refresh_token', tokens.refresh_token],
    ['access_token', tokens.access_token],
  ] as const;
  for (const [hint, token] of held) {
    if (token === undefined) continue;
    const body = new URLSearchParams({ token, token_type_hint: hint });
    const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
    if (client_secret === undefined) body.set('client_id', client_id);
    else headers['authorization'] = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
    await request(endpoint, { method: 'POST', headers, body: body.toString() });
  }
}
