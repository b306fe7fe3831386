import type { ClientOption } from './client-options.ts';
import { createClient, type Client } from './client.ts';
import { requestDevToken } from './dev-token.ts';
import type { Given } from './given.ts';
import { remark } from './terminal.ts';
import { UsageError } from '../model/usage-error.ts';

const usualUser = 'alice';

export interface Caller {
  client: Client;
  token: string;
  /** The development user whose token it is, if it is one. */
  user: string | undefined;
}

/** The server, and the user on whose behalf a command runs. An option wins over a variable, so `--as` wins over TOOLCRIB_TOKEN. */
export async function callerFrom(given: Given<ClientOption>): Promise<Caller> {
  const user = given.text('as');
  if (user !== undefined && given.origin('token') === '--token') throw new UsageError('Give --token or --as, not both', { field: 'as' });
  const client = createClient(given.required('url'), { named: given.origin('url') });
  const token = given.text('token');
  if (token !== undefined && user === undefined) return { client, token, user };
  if (user === undefined)
    remark(`No token is given: calling as ${usualUser} of the development issuer (--as chooses another user, --token passes your token).`);
  const name = user ?? usualUser;
  return { client, token: (await requestDevToken(client, name)).access_token, user: name };
}
