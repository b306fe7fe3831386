import type { DevUser } from './dev-users.ts';

interface Addressed {
  audience: string;
  /** The client the token is issued to. */
  client: string;
}

/** The claims of a user's own token, as Keycloak names them. */
export function userClaims(user: DevUser, { audience, client }: Addressed) {
  return {
    aud: audience,
    azp: client,
    sub: user.sub,
    typ: 'Bearer',
    scope: 'openid profile email',
    realm_access: { roles: user.roles },
    groups: user.groups,
    department: user.department,
    preferred_username: user.username,
    name: `${user.first_name} ${user.last_name}`,
    given_name: user.first_name,
    family_name: user.last_name,
    email: user.email,
    email_verified: true,
  };
}

/** The claims of an exchanged token: who the user is and what they may do at this one upstream, and no more. */
export function exchangedClaims(user: DevUser, { audience, client, roles }: Addressed & { roles: string[] }) {
  return {
    aud: audience,
    azp: client,
    sub: user.sub,
    typ: 'Bearer',
    scope: '',
    resource_access: { [audience]: { roles } },
    department: user.department,
    preferred_username: user.username,
    // RFC 8693 §4.1: the client that acts for the user. Keycloak leaves this out.
    act: { sub: client },
  };
}
