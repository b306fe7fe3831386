import { SignedOut, type SignIn, type Tokens } from './sign-in.ts';

/** Tokens are renewed when they have less than this left, so that none expires in transit. */
const renewBeforeMs = 30_000;

/** One user who has signed in. The tokens stay here: the browser has a cookie, the agent asks for one when it needs it. */
export class UserSession {
  readonly username: string;
  /** The provider's id of its session, which it uses to tell us that it has ended. */
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

  /** A valid token. `refused` is a token from before that was not accepted. */
  async token(refused?: string): Promise<string> {
    const tokens = this.#tokens;
    if (tokens === undefined) throw new SignedOut('The session has ended: sign in again');
    if (tokens.accessToken !== refused && tokens.endsAt - Date.now() > renewBeforeMs) return tokens.accessToken;
    // One request for all callers: a provider that rotates refresh tokens takes the second use of one for theft.
    this.#renewing ??= this.#renew(tokens).finally(() => (this.#renewing = undefined));
    return (await this.#renewing).accessToken;
  }

  /** Ends the session here and returns its tokens, to end it at the provider too. */
  end(): Tokens | undefined {
    const tokens = this.#tokens;
    this.#tokens = undefined;
    return tokens;
  }

  async #renew(tokens: Tokens): Promise<Tokens> {
    try {
      const renewed = await this.#signIn.refresh(tokens);
      // A user who signed out meanwhile stays signed out.
      if (this.#tokens === undefined) throw new SignedOut('The session has ended: sign in again');
      return (this.#tokens = renewed);
    } catch (error) {
      if (error instanceof SignedOut) this.end();
      throw error;
    }
  }
}
