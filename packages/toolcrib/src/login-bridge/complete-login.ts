import type { Provider, ProviderInteraction } from 'oidc-provider';
import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import type { LoginRecords } from '../store/login-records.ts';
import { bridgeScopes } from './authorization-server.ts';
import type { GrantVault } from './grant-vault.ts';
import type { VerifyProvider } from './opened-grant.ts';
import type { ProviderTokens } from './provider-tokens.ts';
import { hashOf } from './record-adapter.ts';

interface CompleteLoginInput {
  provider: () => Provider;
  vault: GrantVault;
  records: LoginRecords;
  verifyProvider: VerifyProvider;
  now: () => number;
}

interface Login {
  interaction: ProviderInteraction;
  tokens: ProviderTokens;
  /** Whom the ID token names; undefined in development. */
  subject: string | undefined;
  session: string | undefined;
  clientName: string;
  address: string;
}

const grantMs = 365 * 86_400_000;
const clientMs = 400 * 86_400_000;

/** [LOGIN-4] Somebody has allowed a client and has signed in: makes the grant, and resolves with what the library has to know. */
export function createCompleteLogin({ provider, vault, records, verifyProvider, now }: CompleteLoginInput) {
  return async ({ interaction, tokens, subject, session, clientName, address }: Login): Promise<object> => {
    const principal = await verifyProvider.verify(tokens);
    if (subject !== undefined && principal.subject !== subject)
      throw new CribError('UNAUTHENTICATED', 'The access token of the provider is about another person than its ID token');
    const client = String(interaction.params['client_id']);
    const Grant = provider().Grant;
    const grant = new Grant({ accountId: principal.subject, clientId: client });
    grant.addOIDCScope(bridgeScopes.join(' '));
    for (const resource of [interaction.params['resource']].flat()) grant.addResourceScope(String(resource), 'mcp');
    const id = await grant.save();
    await keep(id, principal);
    await records.use('Client', hashOf(client), { now: now(), until: now() + clientMs });
    return { login: { accountId: principal.subject, remember: false }, consent: { grantId: id } };

    async function keep(id: string, { key, name }: Principal): Promise<void> {
      const row = { id, owner: key, session: session ?? null, client, expires_at: now() + grantMs };
      await vault.add(row, tokens, { name, clientName, address });
    }
  };
}
