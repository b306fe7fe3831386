import { CribError } from '../model/crib-error.ts';
import { readJson, type Client } from './client.ts';

/** Asks the development issuer of a server for a token; answers with its whole response. */
export async function requestDevToken(client: Client, username: string): Promise<{ access_token: string }> {
  const form = { grant_type: 'password', client_id: 'toolcrib-cli', username };
  const response = await client.send('POST', '/dev/token', { form });
  if (response.status === 404) {
    throw new CribError(
      'NOT_FOUND',
      `${client.url} has no development issuer: a token comes from the identity provider it was started with. Pass yours with --token or TOOLCRIB_TOKEN.`,
    );
  }
  const { status } = response;
  // RFC 6749 §5.2: an issuer refuses in its own form.
  const value = (await readJson(client.url, status === 400 ? { ...response, status: 200 } : response)) as Record<string, unknown>;
  if (status === 400 && typeof value.error_description === 'string') throw new CribError('VALIDATION_ERROR', value.error_description);
  if (typeof value.access_token !== 'string') throw new CribError('NETWORK_ERROR', `${client.url} answered without a token`);
  return { ...value, access_token: value.access_token };
}
