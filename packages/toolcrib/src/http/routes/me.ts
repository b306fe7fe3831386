import { meSchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import type { CompiledMatcher } from '../../policy/matcher.ts';
import { defineRoute, type Route } from '../route.ts';

/** For whoever wants to offer people only what they may do. */
export function meRoutes({ crib, administrator }: { crib: Crib; administrator: CompiledMatcher }): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/me',
      operationId: 'getMe',
      summary: 'Who the caller is, and what they may do here',
      tag: 'me',
      access: 'caller',
      responses: { 200: { description: 'The caller', schema: meSchema } },
      handle({ principal }) {
        const administers = administrator.holds(principal.claims);
        const { issuer, subject } = principal;
        return { issuer, subject, administrator: administers, may_run: administers && crib.runPermission.isHeldBy(principal) };
      },
    }),
  ];
}
