import { SignedOut, type SignIn, type Tokens } from './sign-in.ts';

/** Tokens are renewed when they have less than this left, so that none ends on its way. */
const renewBeforeMs = 30_000;

/** One user who has signed in. The tokens stay here: the browser has a cookie, the agent asks for one when it needs it. */
export class UserSession {
  readonly username: string;
  /** The provider's name for its session, by which it tells us that it has ended. */
  readonly sid: string;
  readonly #signIn: SignIn;
  #tokens: Tokens | undefined;
  #renewing: Promise<Tokens> | undefined;

  constructor(signIn: SignIn, { tokens, username, sid }: { tokens: Tokens; username: string; sid: string }) {
    this.#signIn = signIn;
    this.#tokens = tokens;
    this.username = username;
    this.sid = sid;
  }

  /** A token that is good for now. `refused` is one that was given before and not accepted. */
  async token(refused?: string): Promise<string> {
    const tokens = this.#tokens;
    if (tokens === undefined) throw new SignedOut('The session has ended: sign in again');
    if (tokens.accessToken !== refused && tokens.endsAt - Date.now() > renewBeforeMs) return tokens.accessToken;
    // One request for all who wait: a provider that rotates refresh tokens takes the second use of one for theft.
    this.#renewing ??= this.#renew(tokens).finally(() => (this.#renewing = undefined));
    return (await this.#renewing).accessToken;
  }

  /** Ends it here; gives the tokens, with which it can be ended at the provider. */
  end(): Tokens | undefined {
    const tokens = this.#tokens;
    this.#tokens = undefined;
    return tokens;
  }

  async #renew(tokens: Tokens): Promise<Tokens> {
    try {
      const renewed = await this.#signIn.refresh(tokens);
      // Whoever signed out meanwhile stays signed out.
      if (this.#tokens === undefined) throw new SignedOut('The session has ended: sign in again');
      return (this.#tokens = renewed);
    } catch (error) {
      if (error instanceof SignedOut) this.end();
      throw error;
    }
  }
}
