import { setTimeout as delay } from 'node:timers/promises';
import type { Principal } from '../model/principal.ts';
import { RecentMap } from '../model/recent-map.ts';
import type { LoginGrantRow } from '../store/login-grants.ts';
import type { GrantVault } from './grant-vault.ts';
import { loginEnded, notRechecked } from './login-errors.ts';
import type { OpenedGrant, VerifyProvider } from './opened-grant.ts';
import { LoginRefused, type ProviderTokens, type SignIn } from './provider-tokens.ts';

interface LoginGrantsInput {
  vault: GrantVault;
  signIn: SignIn;
  verifyProvider: VerifyProvider;
  recheckMs: number;
  now: () => number;
  warn(message: string, error: unknown): void;
}

/** A grant as this server knows it. */
interface LiveGrant extends OpenedGrant {
  /** From then on it is renewed while it is used. */
  readonly renewAt: number;
  /** From then on nobody is let in until it is renewed. */
  readonly holdsUntil: number;
}

const mostRemembered = 100_000;
/** A provider's refresh token may be usable only once, so one server at a time uses it; this is longer than a request may take. */
const lockMs = 30_000;
const lookAgainMs = 100;
/** A token is renewed this long before it expires, so that it does not expire on the way. */
const earlyMs = 60_000;
/** Which part of the time between two checks passes before the next one begins. */
const recheckPart = 0.75;

/** [LOGIN-4] [LOGIN-5] The grants, in memory while they are used, and checked with the provider before the stated time is over. */
export class LoginGrants {
  readonly #input: LoginGrantsInput;
  readonly #live = new RecentMap<LiveGrant>(mostRemembered);
  /** Ids are never given twice, so what has ended has ended for good. */
  readonly #ended = new RecentMap<true>(mostRemembered);
  readonly #loading = new Map<string, Promise<LiveGrant>>();
  #generation = 0;

  constructor(input: LoginGrantsInput) {
    this.#input = input;
  }

  /** The principal behind a grant: at once while it was looked at lately. Rejects where the grant has ended. */
  principalOf(id: string): Principal | Promise<Principal> {
    const { verifyProvider, now } = this.#input;
    const known = this.#live.get(id);
    if (known !== undefined && now() < known.holdsUntil) {
      // Nobody waits for it. A failure is reported there, and noticed at the end of the time.
      if (now() >= known.renewAt && !this.#loading.has(id)) this.#load(id).catch(() => undefined);
      return verifyProvider.verify(known.tokens);
    }
    if (this.#ended.get(id) === true) return Promise.reject(loginEnded());
    return this.#load(id).then(({ tokens }) => verifyProvider.verify(tokens));
  }

  /** [LOGIN-5] Ends a grant, and with it everything that was given out for it. */
  async end(id: string, reason: string): Promise<void> {
    this.#generation++;
    this.#live.delete(id);
    this.#ended.set(id, true);
    await this.#input.vault.end(id, reason);
  }

  /** Another server may have ended these. */
  forget(ids: readonly string[]): void {
    this.#generation++;
    for (const id of ids) this.#live.delete(id);
  }

  forgetAll(): void {
    this.#generation++;
    this.#live.clear();
  }

  /** Resolves when no renewal is under way. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#loading.values());
  }

  /** One at a time for each grant on this server. */
  #load(id: string): Promise<LiveGrant> {
    let running = this.#loading.get(id);
    if (running === undefined) {
      running = this.#loadNow(id).finally(() => this.#loading.delete(id));
      this.#loading.set(id, running);
    }
    return running;
  }

  async #loadNow(id: string): Promise<LiveGrant> {
    const { vault, now } = this.#input;
    for (;;) {
      const began = this.#generation;
      const opened = await vault.read(id);
      if (opened === undefined) {
        this.#live.delete(id);
        this.#ended.set(id, true);
        throw loginEnded();
      }
      const found = this.#liveOf(opened);
      const isDue = now() >= found.renewAt;
      const isLocked = opened.row.locked_until > now();
      if (isDue && isLocked && now() >= found.holdsUntil) {
        // Another server is asking the provider.
        await delay(lookAgainMs);
        continue;
      }
      const renewed = isDue && !isLocked ? await this.#renew(found) : found;
      if (renewed === undefined || began !== this.#generation) continue;
      this.#live.set(id, renewed);
      return renewed;
    }
  }

  #liveOf(opened: OpenedGrant): LiveGrant {
    const { row, tokens, tokenEndsAt } = opened;
    const { recheckMs } = this.#input;
    const early = Math.min(earlyMs, (tokenEndsAt - tokens.obtained_at) / 2);
    const holdsUntil = isRenewable(tokens) ? Math.min(tokenEndsAt, row.checked_at + recheckMs) : tokenEndsAt;
    const renewAt = isRenewable(tokens) ? Math.min(tokenEndsAt - early, row.checked_at + recheckMs * recheckPart) : tokenEndsAt;
    return { ...opened, renewAt, holdsUntil };
  }

  /** Undefined where another server was quicker. */
  async #renew(grant: LiveGrant): Promise<LiveGrant | undefined> {
    const { vault, now } = this.#input;
    const { row, tokens } = grant;
    if (!isRenewable(tokens)) {
      await this.end(row.id, 'the provider gave no refresh token, and its access token has expired');
      throw loginEnded();
    }
    const locked = await vault.write({ ...row, locked_until: now() + lockMs });
    if (locked === undefined) return undefined;
    const renewed = await this.#ask(grant, locked);
    if ('row' in renewed) return renewed;
    const verified = await this.#verified(renewed);
    const isSame = !(verified instanceof Error) && verified.key === locked.owner;
    // The old refresh token may be used up, so the new one must not be lost, whatever the new access token is like.
    const written = await vault.write({ ...locked, locked_until: 0, ...(isSame && { checked_at: now() }) }, renewed);
    if (written === undefined) throw loginEnded();
    if (verified instanceof Error) throw verified;
    if (isSame) return this.#liveOf({ row: written, tokens: renewed, tokenEndsAt: verified.expiresAt });
    await this.end(locked.id, 'the provider renewed it for somebody else');
    throw loginEnded();
  }

  /** The provider's answer; the grant itself where there is none, and the time is not over yet. */
  async #ask(grant: LiveGrant, locked: LoginGrantRow): Promise<ProviderTokens | LiveGrant> {
    const { signIn, vault, now, warn } = this.#input;
    try {
      return await signIn.renew(grant.tokens);
    } catch (error) {
      if (error instanceof LoginRefused) {
        await this.end(locked.id, `the provider has ended it: ${error.message}`);
        throw loginEnded();
      }
      const unlocked = await vault.write({ ...locked, locked_until: 0 });
      warn('A login could not be checked with the provider', error);
      if (now() >= grant.holdsUntil) throw notRechecked(error);
      return { ...grant, row: unlocked ?? locked };
    }
  }

  async #verified(tokens: ProviderTokens): Promise<Principal | Error> {
    try {
      return await this.#input.verifyProvider.verify(tokens);
    } catch (error) {
      return error as Error;
    }
  }
}

function isRenewable({ refresh_token, user }: ProviderTokens): boolean {
  return refresh_token !== undefined || user !== undefined;
}
