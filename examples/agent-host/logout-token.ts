import { createRemoteJWKSet, jwtVerify } from 'jose';
import { z } from 'zod';

const event = 'http://schemas.openid.net/event/backchannel-logout';
const claimsSchema = z.object({ sid: z.string(), events: z.object({ [event]: z.object({}) }), nonce: z.never().optional() });

/** Verifies the logout token of the provider (OpenID Connect Back-Channel Logout §2.6) and returns the id of the ended session. */
export function createLogoutTokenReader({ issuer, clientId }: { issuer: string; clientId: string }) {
  const keys = createRemoteJWKSet(new URL(`${issuer}/protocol/openid-connect/certs`));
  return async (token: string): Promise<string> => {
    const { payload } = await jwtVerify(token, keys, { issuer, audience: clientId, algorithms: ['RS256'], typ: 'logout+jwt' });
    return claimsSchema.parse(payload).sid;
  };
}
