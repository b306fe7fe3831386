import { z } from 'zod';
import {
  explainRequestSchema,
  explanationSchema,
  type Explanation,
  policyCreateSchema,
  policyListSchema,
  policySchema,
  policyUpdateSchema,
} from '../../api.ts';
import type { Crib } from '../../crib.ts';
import type { TokenVerifier } from '../../identity/verify-token.ts';
import { CribError } from '../../model/crib-error.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Policy } from '../../model/policy.ts';
import type { Principal } from '../../model/principal.ts';
import { splitStamp } from '../../model/read-back.ts';
import { explainPolicies } from '../../policy/explain.ts';
import type { ClaimCheck } from '../../policy/claim-check.ts';
import { principalFromClaims } from '../../policy/principal-from-claims.ts';
import { defineRoute, type Route } from '../route.ts';

const params = z.strictObject({ id: z.string().min(1).max(64) });

export interface PolicyRoutesInput {
  crib: Crib;
  verifier: TokenVerifier;
  administers: ClaimCheck;
  /** Whose claims are meant where they do not say: the only issuer, if there is but one. */
  onlyIssuer: string | undefined;
}

/** [BFF-6] Access policies, and why they decide as they do. */
export function policyRoutes({ crib, verifier, administers, onlyIssuer }: PolicyRoutesInput): Route[] {
  const tag = 'policies';
  const access = 'administrator';

  async function existing(id: string): Promise<Policy> {
    const policy = await crib.store.policies.get(id);
    if (policy === undefined) throw new CribError('NOT_FOUND', 'There is no such policy');
    return policy;
  }

  /** [POL-3] Asks the very function that decides calls, and shows its reasons beside the answer. */
  function explain(principal: Principal, toolName: string | undefined): Explanation {
    const { counter } = crib;
    const tool = toolName === undefined ? undefined : counter.snapshot.find(toolName);
    const allowed = counter.accessOf(principal);
    return {
      subject: principal.subject === '' ? null : principal.subject,
      user_name: principal.name,
      administrator: administers(principal),
      revision: counter.rules.revision,
      policies: explainPolicies(counter.rules, principal.claims, tool),
      decision: toolName === undefined ? null : decision(toolName),
      tools: allowed.tools.map(({ name }) => name),
    };

    function decision(name: string): NonNullable<Explanation['decision']> {
      if (tool === undefined) return { tool: name, allowed: false, reason: 'there is no such tool' };
      const permission = allowed.permissions.get(tool.tool_id);
      if (permission !== undefined)
        return { tool: tool.name, allowed: true, reason: `granted by ${permission.policies.replaceAll(' ', ', ')}` };
      if (tool.state !== 'active') return { tool: tool.name, allowed: false, reason: `the tool is ${tool.state}` };
      return { tool: tool.name, allowed: false, reason: 'no policy grants it' };
    }
  }

  return [
    defineRoute({
      method: 'GET',
      path: '/api/policies',
      operationId: 'listPolicies',
      summary: 'All access policies',
      tag,
      access,
      responses: { 200: { description: 'The policies', schema: policyListSchema } },
      handle: async () => ({ policies: await crib.store.policies.list() }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/policies',
      operationId: 'createPolicy',
      summary: 'Creates an access policy',
      tag,
      access,
      body: policyCreateSchema,
      example: {
        id: 'operators',
        name: 'Operators use the built-in tools',
        matchers: [{ path: 'realm_access.roles', operator: 'contains', value: 'operator' }],
        groups: [],
      },
      responses: {
        201: {
          description: 'The new policy',
          schema: policySchema,
          headers: { Location: 'Where it is' },
          links: { getPolicy: '$response.body#/id', updatePolicy: '$response.body#/id', deletePolicy: '$response.body#/id' },
        },
      },
      errors: ['CONFLICT'],
      async handle({ principal, body, reply }) {
        const policy = await crib.policies.create(principal, body);
        return reply.code(201).header('location', `/api/policies/${policy.id}`).send(policy);
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/policies/explain',
      operationId: 'explainPolicies',
      summary: 'Why a token or a set of claims may or may not use a tool',
      tag,
      access,
      body: explainRequestSchema,
      example: { claims: { sub: 'alice', realm_access: { roles: ['toolcrib-user'] } }, tool: 'builtin:calculator' },
      responses: { 200: { description: 'The decision, taken apart', schema: explanationSchema } },
      async handle({ body }) {
        if (body.token === undefined) return explain(principalFromClaims((body.claims ?? {}) as JsonObject, onlyIssuer), body.tool);
        let verified: Principal;
        try {
          verified = await verifier.verify(body.token);
        } catch (error) {
          // 401 would be about the administrator's own token.
          if (!(error instanceof CribError) || error.code !== 'UNAUTHENTICATED') throw error;
          throw new CribError('VALIDATION_ERROR', `token: ${error.message}`, { field: 'token' });
        }
        return explain(verified, body.tool);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/policies/{id}',
      operationId: 'getPolicy',
      summary: 'One access policy',
      tag,
      access,
      params,
      responses: { 200: { description: 'The policy', schema: policySchema } },
      errors: ['NOT_FOUND'],
      handle: ({ params }) => existing(params.id),
    }),
    defineRoute({
      method: 'PUT',
      path: '/api/policies/{id}',
      operationId: 'updatePolicy',
      summary: 'Replaces an access policy; what `GET` answers can be sent back',
      tag,
      access,
      params,
      body: policyUpdateSchema,
      example: { name: 'Nobody', enabled: false },
      responses: { 200: { description: 'The policy as it is now', schema: policySchema } },
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handle({ principal, params, body }) {
        const { input, seen } = splitStamp(body, await existing(params.id));
        return crib.policies.update(principal, params.id, input, { seen });
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/policies/{id}',
      operationId: 'deletePolicy',
      summary: 'Deletes an access policy',
      tag,
      access,
      params,
      responses: { 204: { description: 'Gone; what it granted is refused from the next request on' } },
      errors: ['NOT_FOUND'],
      async handle({ principal, params, reply }) {
        await crib.policies.delete(principal, params.id);
        return reply.code(204).send();
      },
    }),
  ];
}
