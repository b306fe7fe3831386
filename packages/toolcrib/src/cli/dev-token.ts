import { CribError } from '../model/crib-error.ts';
import { readDevSecret } from '../identity/development/dev-secret.ts';
import { readJson, type Client } from './client.ts';

const client_id = 'toolcrib-cli';

/** Asks the development issuer of a server for a token; returns its whole response. */
export async function requestDevToken(client: Client, username: string): Promise<{ access_token: string }> {
  const secret = secretIn(await secretFileOf(client));
  // Only here: most commands are given a token.
  const { assertionType, signClientAssertion } = await import('../identity/development/client-assertion.ts');
  const path = '/dev/token';
  const client_assertion = await signClientAssertion({ client: client_id, secret, audience: `${client.url}${path}` });
  const form = { grant_type: 'password', client_id, username, client_assertion_type: assertionType, client_assertion };
  const response = await client.send('POST', path, { form });
  const { status } = response;
  // RFC 6749 §5.2: an issuer refuses in its own form.
  const refused = status === 400 || status === 401;
  const value = (await readJson(client.url, refused ? { ...response, status: 200 } : response)) as Record<string, unknown>;
  if (refused && typeof value.error_description === 'string') throw new CribError('VALIDATION_ERROR', value.error_description);
  if (typeof value.access_token !== 'string') throw new CribError('NETWORK_ERROR', `${client.url} answered without a token`);
  return { ...value, access_token: value.access_token };
}

/** The server says where its secret is, because this command may run in another folder. The file is only read, and its path never sent. */
async function secretFileOf(client: Client): Promise<string> {
  const response = await client.send('GET', '/dev/.well-known/openid-configuration');
  if (response.status === 404) {
    throw new CribError(
      'NOT_FOUND',
      `${client.url} has no development issuer: a token comes from the identity provider it was started with. Pass yours with --token or TOOLCRIB_TOKEN.`,
    );
  }
  const { toolcrib_secret_file: file } = (await readJson(client.url, response)) as Record<string, unknown>;
  if (typeof file !== 'string')
    throw new CribError('NETWORK_ERROR', `${client.url} does not say where the secret of its development issuer is`);
  return file;
}

function secretIn(file: string): string {
  try {
    return readDevSecret(file);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new CribError(
      'FORBIDDEN',
      `The secret of the development issuer, ${file}, cannot be read (${code ?? message}): run this as the user who runs the server, or pass a token with --token or TOOLCRIB_TOKEN.`,
      { cause },
    );
  }
}
