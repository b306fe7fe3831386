import { parsedJson } from '../model/json.ts';
import { z } from 'zod';
import { NoCredentialError } from '../model/named-errors.ts';

/** A refused exchange. */
export interface ExchangeRefusal {
  error: NoCredentialError;
  /** Whether it would have failed for everyone, not only for this caller. */
  isFault: boolean;
}

interface Asked {
  issuer: string;
  audience: string;
  clientId: string;
}

const refusalSchema = z.object({ error: z.string(), error_description: z.string().optional() });

/**
 * [ID-5] Whose fault a refusal is: the caller's, who lacks a right or has an expired token, or the operator's. Token endpoints do not agree
 * on the codes, so the words count too; they are never repeated, because they may contain what was sent.
 */
export function explainExchangeRefusal(status: number, body: string, asked: Asked): ExchangeRefusal {
  const { issuer, audience, clientId } = asked;
  const refused = (code: 'FORBIDDEN' | 'UNAUTHENTICATED', message: string) => ({
    error: new NoCredentialError(code, message, { retryable: false }),
    isFault: false,
  });
  const operator = (why: string, { isFault, retryable = false }: { isFault: boolean; retryable?: boolean }) => ({
    error: new NoCredentialError('SERVICE_UNAVAILABLE', `No token for ${audience} from ${issuer}: ${why}`, { retryable }),
    isFault,
  });
  const forbidden = () => refused('FORBIDDEN', `${issuer} gives you no token for ${audience}: ask for the right to use it`);
  const unauthenticated = () => refused('UNAUTHENTICATED', `${issuer} no longer accepts your token: sign in again and call with a new one`);
  const unknownAudience = () => operator('it knows no such audience. Check the audience of the source', { isFault: true });

  if (status >= 500 || status === 429) return operator(`it answered ${status}`, { isFault: status >= 500, retryable: true });
  const parsed = refusalSchema.safeParse(parsedJson(body));
  if (!parsed.success) return operator(`it answered ${status} without a reason. Check the token endpoint`, { isFault: true });
  const { error, error_description: words = '' } = parsed.data;
  switch (error) {
    case 'access_denied':
    case 'invalid_target':
      return /not found|unknown/i.test(words) ? unknownAudience() : forbidden();
    case 'invalid_grant':
    case 'invalid_token':
      return unauthenticated();
    case 'invalid_client':
      // Keycloak sends this for an audience it does not know, although nothing is wrong with the client.
      if (/audience/i.test(words)) return unknownAudience();
      return operator(`it does not accept the client ${clientId}. Check the client id and secret of the source`, { isFault: true });
    case 'unauthorized_client':
      return operator(`the client ${clientId} may not exchange tokens, or its secret is another`, { isFault: true });
    case 'invalid_request':
      if (/not available/i.test(words)) return forbidden();
      // RFC 8693 §2.2.2 has one code for every subject token that is not accepted.
      if (/token/i.test(words) && /invalid|expired|not active|acceptable|revoked/i.test(words)) return unauthenticated();
      if (/not enabled/i.test(words)) return operator(`the client ${clientId} may not exchange tokens`, { isFault: true });
  }
  const code = /^[a-z_]{1,40}$/.test(error) ? ` with ${error}` : '';
  return operator(`it answered ${status}${code}. Check how the source is registered, and the client ${clientId}`, { isFault: false });
}
