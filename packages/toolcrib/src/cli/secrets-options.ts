import { createClient, type Client } from './client.ts';
import { jsonOption, urlOption } from './client-options.ts';
import { requestDevToken } from './dev-token.ts';
import type { Given } from './given.ts';
import type { OptionTable } from '../model/option-table.ts';

/** The options of commands that administer a running server. */
export const administratorOptions = {
  ...urlOption,
  token: {
    value: 'jwt',
    help: "The administrator's token; by default a token for `admin` from the development issuer",
    env: 'TOOLCRIB_TOKEN',
  },
  ...jsonOption,
} as const satisfies OptionTable;

export async function administratorFrom(given: Given<'url' | 'token'>): Promise<{ client: Client; token: string }> {
  const client = createClient(given.required('url'), { named: given.origin('url') });
  return { client, token: given.text('token') ?? (await requestDevToken(client, 'admin')).access_token };
}
