import type { ServeConfig } from '../server/server-config.ts';
import { bindClaims } from '../identity/claims-by-issuer.ts';
import type { Matcher } from '../model/policy.ts';
import { type Check, reasonOf } from './check.ts';

/** [BFF-6] [SEC-2] Which tokens make administrators, and which administrators may start programs. Development has only its own issuer. */
export function checkAdministrators(place: Pick<ServeConfig, 'issuers' | 'adminMatcher' | 'runMatcher'>): Check[] {
  const check = { name: 'administrators', required: true };
  if (place.issuers.length === 0) return [];
  try {
    const { administrators, runners } = bindClaims(place.issuers, place);
    const detail = place.issuers.map(({ issuer }) => {
      const [admin, run] = [administrators.get(issuer), runners.get(issuer)];
      if (admin === undefined) return `none of ${issuer}`;
      return `${written(admin)} of ${issuer}, and ${run === undefined ? 'none of them' : written(run)} to start programs`;
    });
    return [{ ...check, state: 'ok', detail: detail.join('; ') }];
  } catch (error) {
    const cure = 'write admin_claim into the entry of the issuer whose users are administrators';
    return [{ ...check, state: 'broken', detail: reasonOf(error), cure }];
  }
}

function written(matcher: Matcher): string {
  return `${[matcher.path].flat().join('.')}=${String(matcher.value)}`;
}
