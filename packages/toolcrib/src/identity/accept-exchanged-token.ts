import { NoCredentialError } from '../model/named-errors.ts';
import type { Principal } from '../model/principal.ts';
import { upstreamSecret, type UpstreamSecret } from '../model/upstream-secret.ts';
import type { TrustedIssuer } from './trusted-issuers.ts';

const clockToleranceSeconds = 5;

/**
 * [ID-3] An exchanged token is sent only where it is what was asked for: signed by the caller's issuer, about the caller, and for the one
 * audience alone. Anything else, even an opaque token, is dropped: a service that gets a token for several could use it at the others.
 */
export async function acceptExchangedToken(
  token: string,
  { principal, issuer, audience, now }: { principal: Principal; issuer: TrustedIssuer; audience: string; now: () => number },
): Promise<{ token: UpstreamSecret; expiresAt: number }> {
  const dropped = (why: string, cause?: unknown) => {
    const message = `The token that ${principal.issuer} gave for ${audience} was not used: ${why}`;
    return new NoCredentialError('SERVICE_UNAVAILABLE', message, { retryable: false, cause });
  };
  // Loaded on first use: a server without such a source does not need it.
  const { errors, jwtVerify } = await import('jose');
  const verified = await jwtVerify(token, (header) => issuer.keySet(header), {
    issuer: principal.issuer,
    algorithms: issuer.algorithms,
    requiredClaims: ['exp', 'sub', 'aud'],
    clockTolerance: clockToleranceSeconds,
    currentDate: new Date(now()),
  }).catch((error: unknown) => {
    if (!(error instanceof errors.JOSEError)) throw error;
    throw dropped('it is not a token that this issuer has signed and that is valid now', error);
  });
  const { sub, aud, exp = 0 } = verified.payload;
  const [only, ...others] = [aud].flat();
  if (only !== audience || others.length > 0) throw dropped('it is not for that audience alone');
  if (sub !== principal.subject) throw dropped('its subject is not the caller');
  return { token: upstreamSecret(token), expiresAt: exp * 1000 };
}
