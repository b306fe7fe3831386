import { isPerUser } from '../../model/credential.ts';
import { CribError } from '../../model/crib-error.ts';
import { EngineUnavailableError } from '../../model/named-errors.ts';
import type { Principal } from '../../model/principal.ts';
import { toCribError } from '../../model/to-crib-error.ts';
import { abortable } from '../../resilience/abortable.ts';
import { createOngoingWork } from '../../resilience/ongoing-work.ts';
import type { Pauses } from '../../resilience/paced.ts';
import type { CallSource, StartCall, OpenSource, SecretsFollowed, SessionCounts, SourceHost, SourceInfo } from '../open-source.ts';
import type { SessionKey } from '../upstream/session-key.ts';
import { isRemote, type McpDefinition } from './mcp-definition.ts';
import { createDiscovery, type Discovery } from './pool/discovery.ts';
import { OwnSessions } from './pool/own-sessions.ts';
import { createPerUserCalls, type PerUserCalls } from './pool/per-user-calls.ts';
import { createSecretChanges, type SecretChanges } from './pool/secret-changes.ts';
import { serverAttributes } from './pool/server-attributes.ts';
import { createSourceCalls } from './pool/source-calls.ts';
import { startingMessage } from './pool/starting-message.ts';
import type { TakenSession } from './pool/user-sessions.ts';
import type { McpSession } from './session/mcp-session.ts';

export interface McpSourceInput {
  definition: McpDefinition;
  host: SourceHost;
  /** Everything from resolving secrets to a finished handshake; bounded by the start-up timeout. For a caller, or for the source itself. */
  open(signal: AbortSignal, principal?: Principal): Promise<McpSession>;
  /** The key of the caller's credential; `UNAUTHENTICATED` if there is none. Only for sources with a credential for each user. */
  sessionKeyOf(principal: Principal): SessionKey | Promise<SessionKey>;
  /** Releases what was created for the source as a whole. Called when all its sessions are closed, and never between restarts. */
  release(): Promise<void>;
  /** The last line that the server wrote to standard error since `time`, in epoch milliseconds. */
  saidSince?(time: number): string | undefined;
  /** The image that is being fetched for the source, with the progress. */
  pulling?(): string | undefined;
  /** The pauses between listings of a server whose tools keep changing; there is a default. */
  refreshPauses?: Pauses | undefined;
  /** The first pause between attempts to reach the container engine. */
  enginePauseMs?: number | undefined;
}

/** One MCP server: its own sessions, and those of its users. */
export class McpSource implements OpenSource {
  readonly elsewhere: boolean;
  readonly servesWhileStarting = false;
  readonly hasHealth = true;
  readonly call: CallSource;
  readonly startCall: StartCall;
  readonly #input: McpSourceInput;
  readonly #ongoing = createOngoingWork();
  readonly #discovery: Discovery;
  readonly #own: OwnSessions;
  /** Set if every user has their own sessions. */
  readonly #ofUsers: PerUserCalls | undefined;
  readonly #secrets: SecretChanges;
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  /** Whether the source was started and its tools could be listed. */
  #started = false;

  constructor(input: McpSourceInput) {
    const { definition, host } = input;
    const note = (message: string) => host.note(message);
    this.#input = input;
    this.elsewhere = isRemote(definition);
    this.#discovery = createDiscovery({
      resources: definition.register_resources_as_tools,
      onDiscovered: (tools, info) => host.discovered(tools, info),
      onOffersChanged: (what) => host.offersChanged(what),
      onReady(tools) {
        host.health.succeeded();
        host.ready(tools);
      },
      note,
      pauses: input.refreshPauses,
    });
    const own = this.#openOwnSessions();
    this.#own = own;
    this.#ofUsers = isPerUser(definition.credential)
      ? createPerUserCalls({
          longLived: own.shared,
          open: input.open,
          sessionKeyOf: input.sessionKeyOf,
          end: (session) => own.end(session),
        })
      : undefined;
    this.#secrets = createSecretChanges({ definition, own, ofUsers: this.#ofUsers, note });
    const calls = createSourceCalls({
      own,
      ofUsers: this.#ofUsers,
      ongoing: this.#ongoing,
      take: (signal) => this.#takeReachable((until) => own.take(until), signal),
      server: serverAttributes(definition),
    });
    this.call = calls.call;
    this.startCall = calls.start;
  }

  #openOwnSessions(): OwnSessions {
    const { definition, host, open, enginePauseMs } = this.#input;
    return new OwnSessions({
      definition,
      open: (signal) => open(signal),
      discovery: this.#discovery,
      note: (message) => host.note(message),
      enginePauseMs,
      onHeartbeat(failure) {
        if (failure === undefined) return host.health.succeeded();
        host.health.failed(failure);
        host.notice('heartbeat-failed');
      },
      onLost: (reason) => {
        // Its replacement begins with the current values.
        this.#secrets.forget();
        host.note(`Lost: ${inShort(reason)}`);
        host.lost(reason);
      },
      onEngineAway(reason) {
        host.health.failed(reason);
        host.note(`Waiting to be started again: ${inShort(reason)}`);
      },
      onEngineBack: () => host.note('Docker, or the container, is available again.'),
      onStandby: (used) => host.notice(used ? 'standby-used' : 'standby-missed'),
      onGivenUp: (reason) => (this.#waitsForConnection(reason) ? this.#goOnWithout(reason) : host.gaveUp(reason)),
    });
  }

  get perUser(): boolean {
    return this.#ofUsers !== undefined;
  }

  get reachable(): boolean {
    return this.#started && this.#own.reachable;
  }

  get info(): SourceInfo | null {
    return this.#discovery.info;
  }

  get sessions(): SessionCounts {
    return { ...this.#own.open, user: this.#ofUsers?.open ?? 0 };
  }

  get outdatedSecrets(): readonly string[] {
    return this.#secrets.outdated;
  }

  startingMessage(since: number): string | undefined {
    const { definition, saidSince, pulling } = this.#input;
    return startingMessage(definition, { forMs: Date.now() - since, said: saidSince?.(since), pulling: pulling?.() });
  }

  async start(signal: AbortSignal): Promise<CribError | undefined> {
    if (this.#closing !== undefined) await this.#closing;
    signal.throwIfAborted();
    this.#started = true;
    this.#ofUsers?.start();
    try {
      this.#starting = this.#own.start(signal);
      await this.#starting;
      this.#secrets.forget();
      return undefined;
    } catch (error) {
      const failure = toCribError(error);
      await this.#own.close();
      if (!signal.aborted && this.#waitsForConnection(failure)) {
        this.#goOnWithout(failure);
        return failure;
      }
      this.#started = false;
      await this.#ofUsers?.close();
      // If only the container engine is away, the start is tried again soon.
      if (!(failure instanceof EngineUnavailableError)) await this.#release();
      throw failure;
    }
  }

  startFailed(reason: CribError): void {
    this.#input.host.health.failed(reason);
  }

  /** [INV-6] If only discovery lacks a connection, users go on with their own connections. */
  #waitsForConnection({ code }: CribError): boolean {
    return this.#ofUsers !== undefined && code === 'UNAUTHENTICATED';
  }

  #goOnWithout(reason: CribError): void {
    const { host } = this.#input;
    this.#started = false;
    if (reason.upstreamStatus !== undefined) host.health.failed(reason);
    host.note(reason.message);
    host.ready(this.#discovery.tools, reason.message);
  }

  async #takeReachable(take: (signal: AbortSignal) => Promise<TakenSession>, signal: AbortSignal): Promise<TakenSession> {
    // A call that comes while the source starts waits for the start.
    if (this.#started && !this.#own.reachable) await abortable(this.#starting ?? Promise.resolve(), signal).catch(() => undefined);
    if (!this.reachable) throw new CribError('SERVICE_UNAVAILABLE', 'The source is not running');
    return take(signal);
  }

  async refresh(signal: AbortSignal): Promise<void> {
    try {
      await this.#ongoing.run(signal, async (ending) => {
        const { session, giveBack } = await this.#takeReachable((until) => this.#own.takeToAsk(until), ending);
        await this.#discovery.discover(session, ending).finally(giveBack);
      });
    } catch (error) {
      // [INV-2] The tools that were found before stay; being stopped says nothing about the server.
      if (!signal.aborted) this.#input.host.health.failed(toCribError(error));
      throw error;
    }
  }

  secretsChanged(): Promise<SecretsFollowed> {
    return this.#secrets.follow();
  }

  async endSessionsOf(owner: string): Promise<void> {
    await this.#ofUsers?.endSessionsOf(owner);
  }

  close(reason: CribError): Promise<void> {
    const closed = this.#closeNow(reason).finally(() => {
      if (this.#closing === closed) this.#closing = undefined;
    });
    this.#closing = closed;
    return closed;
  }

  async #closeNow(reason: CribError): Promise<void> {
    this.#started = false;
    await this.#ongoing.endAll(reason);
    await Promise.allSettled([this.#own.close(), this.#ofUsers?.close()]);
    await this.#release();
  }

  async #release(): Promise<void> {
    const { host, release } = this.#input;
    await release().catch((error: unknown) => host.note(`Its resources could not be released: ${toCribError(error).message}`));
  }
}

/** For the source's log, which already has the last lines of the program. */
function inShort({ summary, message }: CribError): string {
  return summary ?? message;
}
