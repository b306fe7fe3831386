import { randomUUID } from 'node:crypto';
import type { BenchIssuer } from './issuer.ts';
import type { PreparedRequest } from './load.ts';
import { postBytes } from './post-bytes.ts';

export const departments = Array.from({ length: 20 }, (_, index) => `department-${index}`);
/** The role that a policy of every department requires, and the role that grants the thousand tools of the listing. */
export const userRole = 'tool-user';
export const listingRole = 'lister';

/** Claims as an identity provider gives them: different for everybody, and mostly irrelevant to policies. */
export function claimsOf(index: number, roles: string[]): Record<string, unknown> {
  return {
    sub: randomUUID(),
    typ: 'Bearer',
    scope: 'openid profile email',
    realm_access: { roles: ['offline_access', 'uma_authorization', ...roles] },
    groups: [`/team-${index % 100}`, `/site-${index % 7}`],
    department: departments[index % departments.length],
    preferred_username: `user-${index}`,
    name: `User Number ${index}`,
    email: `user-${index}@example.test`,
    email_verified: true,
  };
}

export interface CallRequests {
  toToolcrib: PreparedRequest[];
  /** Byte for byte the same requests; only the expected answer differs. */
  toEcho: PreparedRequest[];
}

/** One call per user, each with its own token, its own expression and its own right answer. */
export function callRequests(issuer: BenchIssuer, users: number): CallRequests {
  const toToolcrib: PreparedRequest[] = [];
  const toEcho: PreparedRequest[] = [];
  for (let index = 0; index < users; index++) {
    const token = issuer.mint(claimsOf(index, [userRole]));
    const expression = `(${1000 + index} + 4) * 2`;
    const bytes = callBytes(token, expression);
    toToolcrib.push({ bytes, status: 200, expect: `"result":{"result":${(1004 + index) * 2}},` });
    toEcho.push({ bytes, status: 200, expect: `"result":{"expression":"${expression}"},` });
  }
  return { toToolcrib, toEcho };
}

/** A user with a valid token whom no policy lets use the tool: proof that the policies decide. */
export function refusedRequest(issuer: BenchIssuer): PreparedRequest {
  const token = issuer.mint(claimsOf(0, ['somebody-else']));
  return { bytes: callBytes(token, '1 + 1'), status: 404, expect: '"NOT_FOUND"' };
}

function callBytes(token: string, expression: string): string {
  const body = { name: 'builtin:calculator', arguments: { expression } };
  return postBytes('/api/bff/tools/call', body, { authorization: `Bearer ${token}` });
}

export function listBytes(token: string, etag?: string): string {
  const head = ['GET /api/bff/tools HTTP/1.1', 'host: 127.0.0.1', `authorization: Bearer ${token}`];
  if (etag !== undefined) head.push(`if-none-match: ${etag}`);
  return `${head.join('\r\n')}\r\n\r\n`;
}
