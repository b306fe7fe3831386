import { randomUUID } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';

/** RFC 7523 §2.2 */
export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const lifeSeconds = 60;
const keyOf = (secret: string) => new TextEncoder().encode(secret);

/**
 * Proves that a client has the secret without sending it (`client_secret_jwt`), and only to the endpoint it names: another program on that
 * port cannot use it elsewhere.
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

/** The audience it was made for; throws where another client made it, or it has expired. */
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
