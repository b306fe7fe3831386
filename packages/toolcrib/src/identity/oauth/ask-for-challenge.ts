import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import type { GuardedFetch } from '../../net/guarded-fetch.ts';

export interface Challenge {
  resourceMetadataUrl?: URL | undefined;
  scope?: string | undefined;
}

/**
 * The challenge that a server sends to a client without a token: where its metadata is, and which scopes it wants (RFC 9728 §5.1). Empty where
 * there is none, or no answer: then the default places are tried.
 */
export async function askForChallenge(request: GuardedFetch, serverUrl: string, isLegacySse: boolean): Promise<Challenge> {
  const accept = 'application/json, text/event-stream';
  const ping = {
    method: 'POST',
    headers: { accept, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'ping' }),
  };
  try {
    const response = await request(serverUrl, isLegacySse ? { headers: { accept } } : ping);
    return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
  } catch {
    return {};
  }
}
