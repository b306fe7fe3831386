import { randomUUID } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';

/** RFC 7523 §2.2 */
export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const lifeSeconds = 60;
const keyOf = (secret: string) => new TextEncoder().encode(secret);

/**
 * Shows that a client has the secret without telling it (`client_secret_jwt`), and only to the endpoint it names: whatever else may listen on
 * that port can do nothing with it elsewhere.
 */
export function signClientAssertion({ client, secret, audience }: { client: string; secret: string; audience: string }): Promise<string> {
  const seconds = Math.floor(Date.now() / 1000);
  return new SignJWT()
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(client)
    .setSubject(client)
    .setAudience(audience)
    .setJti(randomUUID())
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + lifeSeconds)
    .sign(keyOf(secret));
}

/** The audience it was made for; throws where it is not the client's, or has ended. */
export async function verifyClientAssertion(assertion: string, { client, secret }: { client: string; secret: string }): Promise<unknown> {
  const { payload } = await jwtVerify(assertion, keyOf(secret), {
    algorithms: ['HS256'],
    issuer: client,
    subject: client,
    requiredClaims: ['aud', 'exp', 'iat'],
    maxTokenAge: lifeSeconds,
    clockTolerance: 5,
  });
  return payload.aud;
}
