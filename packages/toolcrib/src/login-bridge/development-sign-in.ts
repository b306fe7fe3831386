import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DevIssuer } from '../identity/development/dev-issuer.ts';
import { readDevSecret } from '../identity/development/dev-secret.ts';
import type { ProviderTokens, SignIn } from './provider-tokens.ts';

/** Who may be chosen, with what the page says of them. */
interface Choice {
  readonly username: string;
  readonly text: string;
}

export interface DevelopmentSignIn extends SignIn {
  readonly users: readonly Choice[];
  /** The file that holds the secret, which only the person who runs the server can read. */
  readonly secretFile: string;
  isSecret(given: string): boolean;
  /** What a browser keeps that has shown the secret. */
  proof(): string;
  isProof(given: string | undefined): boolean;
  tokensOf(username: string): Promise<ProviderTokens>;
}

interface DevelopmentSignInInput {
  issuer: DevIssuer;
  secretFile: string;
  now: () => number;
}

/** In place of a provider: the person chooses who to be. Other users of the machine reach the page too, but cannot read the file. */
export function createDevelopmentSignIn({ issuer, secretFile, now }: DevelopmentSignInInput): DevelopmentSignIn {
  const secret = () => readDevSecret(secretFile);
  const proof = () => createHmac('sha256', secret()).update('a browser that has shown the secret').digest('base64url');

  async function tokensOf(user: string): Promise<ProviderTokens> {
    return { access_token: await issuer.mint(user), user, obtained_at: now() };
  }

  return {
    users: issuer.users.map(({ username, first_name, last_name, department }) => ({
      username,
      text: `${username} (${first_name} ${last_name}, ${department})`,
    })),
    secretFile,
    isSecret: (given) => isSame(given.trim(), secret()),
    proof,
    isProof: (given) => given !== undefined && isSame(given, proof()),
    tokensOf,
    renew: ({ user = '' }) => tokensOf(user),
  };
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
