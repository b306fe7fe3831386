import { meSchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import type { ClaimCheck } from '../../policy/claim-check.ts';
import { defineRoute, type Route } from '../route.ts';

/** For user interfaces that offer only what their user may do. */
export function meRoutes({ runPermission, administers }: Pick<Crib, 'runPermission'> & { administers: ClaimCheck }): Route[] {
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
        const { issuer, subject, name } = principal;
        const administrator = administers(principal);
        return { issuer, subject, name, administrator, may_run: administrator && runPermission.isHeldBy(principal) };
      },
    }),
  ];
}
