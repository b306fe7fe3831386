import { explainRequestSchema, explanationSchema, type Explanation } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import type { TokenVerifier } from '../../identity/verify-token.ts';
import { CribError } from '../../model/crib-error.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import type { ClaimCheck } from '../../policy/claim-check.ts';
import { principalFromClaims } from '../../policy/principal-from-claims.ts';
import { defineRoute, type Route } from '../route.ts';

interface PolicyExplanationInput extends Pick<Crib, 'explainAccess'> {
  verifier: TokenVerifier;
  administers: ClaimCheck;
  /** Whose claims are meant where they do not say: the only issuer, if there is but one. */
  onlyIssuer: string | undefined;
}

/** [POL-3] Why policies decide as they do. */
export function policyExplanationRoutes({ explainAccess, verifier, administers, onlyIssuer }: PolicyExplanationInput): Route[] {
  function explain(principal: Principal, toolName: string | undefined): Explanation {
    return {
      subject: principal.subject === '' ? null : principal.subject,
      user_name: principal.name,
      administrator: administers(principal),
      ...explainAccess(principal, toolName),
    };
  }

  return [
    defineRoute({
      method: 'POST',
      path: '/api/policies/explain',
      operationId: 'explainPolicies',
      summary: 'Why a token or a set of claims may or may not use a tool',
      tag: 'policies',
      access: 'administrator',
      body: explainRequestSchema,
      example: { claims: { sub: 'alice', realm_access: { roles: ['toolcrib-user'] } }, tool: 'builtin:calculator' },
      responses: { 200: { description: 'The decision, taken apart', schema: explanationSchema } },
      async handle({ body }) {
        if (body.token === undefined) return explain(principalFromClaims((body.claims ?? {}) as JsonObject, onlyIssuer), body.tool);
        let verified: Principal;
        try {
          verified = await verifier.verify(body.token);
        } catch (error) {
          // A 401 would mean the administrator's own token.
          if (!(error instanceof CribError) || error.code !== 'UNAUTHENTICATED') throw error;
          throw new CribError('VALIDATION_ERROR', `token: ${error.message}`, { field: 'token' });
        }
        return explain(verified, body.tool);
      },
    }),
  ];
}
