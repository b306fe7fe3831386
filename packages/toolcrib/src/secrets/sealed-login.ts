/** How what the login bridge seals is named among the secrets. No secret has a name with spaces in it. */
export const sealedLogin = {
  grant: { name: 'login grant', created_at: 0, updated_at: 0 },
  key: { name: 'login key', created_at: 0, updated_at: 0 },
} as const;
