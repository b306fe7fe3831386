export interface DevUser {
  username: string;
  /** Fixed, so that records and grants of a user stay valid after the development state was deleted. */
  sub: string;
  first_name: string;
  last_name: string;
  email: string;
  department: string;
  groups: string[];
  roles: string[];
  /** The upstream services this user may be exchanged to, with the roles there. */
  audiences: Record<string, string[]>;
}

/** The same three people as in the Keycloak realm for development, so that policies tried here hold there. */
export const devUsers: readonly DevUser[] = [
  {
    username: 'alice',
    sub: '5b1d7a52-7d0c-4f0e-9a53-0c1f6b0a1a01',
    first_name: 'Alice',
    last_name: 'Manager',
    email: 'alice@example.test',
    department: 'operations',
    groups: ['/managers'],
    roles: ['toolcrib-user'],
    audiences: { 'pizzeria-api': ['orders:read', 'orders:write'], 'inventory-api': ['stock:read'] },
  },
  {
    username: 'bob',
    sub: '9c40e0b7-3c5e-4b38-8f0d-6d2b1e7c2b02',
    first_name: 'Bob',
    last_name: 'Cook',
    email: 'bob@example.test',
    department: 'kitchen',
    groups: ['/kitchen'],
    roles: ['toolcrib-user'],
    audiences: { 'pizzeria-api': ['orders:read'] },
  },
  {
    username: 'admin',
    sub: 'e7a3c9d4-1f26-4d6b-b1c7-2a9f5d3e3c03',
    first_name: 'Ada',
    last_name: 'Admin',
    email: 'admin@example.test',
    department: 'platform',
    groups: ['/administrators'],
    roles: ['toolcrib-user', 'toolcrib-admin', 'toolcrib-run'],
    audiences: {},
  },
];

/** All upstream services in development. */
export const devAudiences: readonly string[] = ['pizzeria-api', 'inventory-api'];
