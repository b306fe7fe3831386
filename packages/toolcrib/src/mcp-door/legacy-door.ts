import type { IncomingHttpHeaders } from 'node:http';
import { isObject, type JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import { askSource, callTool } from './call-tool.ts';
import { abilitiesOf, agentOf, noAbilities, legacyVersions, type DoorCaller } from './door-caller.ts';
import { answerWith, logLevels, type DoorExchange } from './door-exchange.ts';
import type { DoorMail, DoorMessage } from './door-mail.ts';
import { capabilities, createDoorMethods, paramsOf, serverInfo } from './door-methods.ts';
import type { DoorParts } from './door-parts.ts';
import type { Visit } from './door-visit.ts';
import { LegacyAnswer } from './legacy-answer.ts';
import { LegacyExchange } from './legacy-exchange.ts';
import type { LiveSession } from './live-session.ts';
import { LiveSessions } from './live-sessions.ts';
import type { OpenStreams } from './open-streams.ts';
import { idRule, isRpcId, refuse, type ExplainError } from './refuse.ts';
import { DoorError, notificationText, resultText, rpcCodes, type RpcId } from './rpc.ts';
import { StandingStreams } from './standing-streams.ts';
import type { Subscriptions } from './subscriptions.ts';

export interface LegacyDoorInput {
  parts: DoorParts;
  mail: DoorMail;
  streams: OpenStreams;
  explain: ExplainError;
  /** Aborts when the server begins to stop. */
  closing: AbortSignal;
}

interface Rpc {
  id: RpcId;
  method: string;
  params: unknown;
}

const sessionHeader = 'mcp-session-id';
const versionHeader = 'mcp-protocol-version';
/** Assumed of clients that name none. */
const assumedVersion = '2025-03-26';
const mostInBatch = 100;

/** [DOOR-2] The revisions with a handshake and sessions: 2025-03-26 to 2025-11-25. */
export class LegacyDoor {
  readonly #input: LegacyDoorInput;
  readonly #sessions: LiveSessions;
  readonly #methods;
  readonly #standing;

  constructor(input: LegacyDoorInput) {
    const { parts, mail, streams, closing } = input;
    this.#input = input;
    this.#sessions = new LiveSessions({ parts, mail });
    this.#methods = createDoorMethods(
      parts,
      (exchange, tool, args) => callTool(parts.executor, exchange, tool, args),
      (exchange, request, args) => askSource(parts.executor, exchange, request, args),
    );
    this.#standing = new StandingStreams({ methods: this.#methods, open: streams, closing });
    mail.on('answer', ({ session, message }) => this.#sessions.named(session)?.answered(message));
    mail.on('cancel', ({ session, id }) => this.#sessions.named(session)?.running.cancel(id));
    mail.on('speak', ({ session, json }) => this.#sessions.named(session)?.speak(json));
    mail.on('level', ({ session, level }) => {
      const live = this.#sessions.named(session);
      if (live !== undefined) live.logLevel = level;
    });
  }

  post(visit: Visit, body: unknown): void {
    const messages = Array.isArray(body) ? body : [body];
    if (messages.length === 0 || !messages.every(isObject)) throw invalid('The body is no JSON-RPC message');
    if (messages.length > mostInBatch) throw invalid(`A batch may have ${mostInBatch} messages: send fewer at once`);
    const [first] = messages;
    if (first?.['method'] === 'initialize') return this.#initialize(visit, messages);
    this.#within(visit, (session) => this.#post(visit, messages, Array.isArray(body), session), first);
  }

  #post(visit: Visit, messages: JsonObject[], isBatch: boolean, session: LiveSession | undefined): void {
    const version = this.#versionOf(visit.headers, session);
    if (isBatch && version !== assumedVersion) throw invalid('Batches are not part of this revision of the protocol');
    if (messages.some(({ id, method }) => typeof method === 'string' && id !== undefined && !isRpcId(id))) throw invalid(idRule);
    const requests = messages.filter(isRequest);
    for (const message of messages) if (!isRequest(message)) this.#take(message, visit, session);
    if (requests.length === 0) return visit.reply.send(202);
    const streams = visit.headers.accept?.includes('text/event-stream') ?? false;
    const answer = new LegacyAnswer({ reply: visit.reply, session, requests: requests.length, isBatch, streams });
    const caller: DoorCaller = {
      principal: visit.principal,
      address: visit.address,
      version,
      agent: session?.terms.agent ?? null,
      abilities: session?.terms.abilities ?? noAbilities,
    };
    for (const request of requests) this.#answer(request, caller, session, answer);
    answer.wait();
  }

  /** [DOOR-5] The stream on which the server speaks by itself, or the rest of one whose connection was lost. */
  get(visit: Visit): void {
    const { headers } = visit;
    if (headers.accept?.includes('text/event-stream') !== true)
      throw new DoorError(rpcCodes.badRequest, 'Send Accept: text/event-stream', { status: 406 });
    this.#within(visit, (found) => {
      const session = needed(found);
      this.#versionOf(headers, session);
      this.#standing.open(visit, session);
    });
  }

  /** The client ends its session. */
  delete(visit: Visit): void {
    this.#within(visit, async (session) => {
      await this.#sessions.end(needed(session)).catch(() => {
        throw new DoorError(rpcCodes.internal, 'The database does not take it at the moment: try again', { status: 503 });
      });
      visit.reply.send(200);
    });
  }

  #initialize({ principal, reply }: Visit, messages: JsonObject[]): void {
    const [message] = messages;
    if (messages.length > 1 || message === undefined || !isRequest(message)) throw invalid('initialize must be a request of its own');
    const params = paramsOf(message.params);
    const asked = params['protocolVersion'];
    const version = legacyVersions.find((known) => known === asked) ?? legacyVersions[0];
    const agreed = { version, agent: agentOf(params['clientInfo']), abilities: abilitiesOf(params['capabilities']) };
    const { id } = this.#sessions.begin(principal, agreed);
    const result = { protocolVersion: version, capabilities, serverInfo };
    reply.send(200, resultText(message.id, JSON.stringify(result)), [sessionHeader, id]);
  }

  /** [DOOR-4] Undefined where none is named; with an id that does not open for this caller, the client is told to begin anew. */
  #within({ principal, headers, reply }: Visit, act: (session: LiveSession | undefined) => void | Promise<void>, first?: JsonObject): void {
    const id = headers[sessionHeader];
    const found = id === undefined ? undefined : this.#sessions.of(principal, String(id));
    const go = (session: LiveSession | undefined) => {
      if (id !== undefined && session === undefined) throw new DoorError(rpcCodes.sessionNotFound, 'Session not found', { status: 404 });
      return act(session);
    };
    // Nearly always it is known.
    const done = found instanceof Promise ? found.then(go) : go(found);
    if (done instanceof Promise)
      done.catch((error: unknown) => refuse(reply, this.#input.explain(error), isRpcId(first?.['id']) ? first['id'] : null));
  }

  #versionOf(headers: IncomingHttpHeaders, session: LiveSession | undefined): string {
    const named = headers[versionHeader];
    if (named === undefined) return session?.terms.version ?? assumedVersion;
    if (legacyVersions.some((known) => known === named)) return String(named);
    const supported = legacyVersions.join(', ');
    throw new DoorError(
      rpcCodes.badRequest,
      `Unsupported protocol version: ${String(named).slice(0, 40)} (supported versions: ${supported})`,
      { status: 400 },
    );
  }

  /** A notification, or the answer to a question; another server may wait for it. */
  #take(message: JsonObject, { principal }: Visit, session: LiveSession | undefined): void {
    if (session === undefined) return;
    const { method, params } = message;
    const { nonce } = session.terms;
    const id = isObject(params) ? params['requestId'] : undefined;
    if (method === 'notifications/cancelled' && isRpcId(id)) {
      if (!session.running.cancel(id)) this.#passOn(principal, { kind: 'cancel', session: nonce, id });
    } else if (method === undefined && isRpcId(message['id']) && !session.answered(message)) {
      this.#passOn(principal, { kind: 'answer', session: nonce, message });
    }
  }

  #passOn(principal: Principal, message: DoorMessage): void {
    const { mail, parts } = this.#input;
    if (mail.isAlone) return;
    try {
      // It costs the database something.
      parts.requestRate(principal);
    } catch {
      return;
    }
    mail.tell(message);
  }

  #answer({ id, method, params }: Rpc, caller: DoorCaller, session: LiveSession | undefined, answer: LegacyAnswer): void {
    const exchange = new LegacyExchange({ id, caller, session, answer, params, explain: this.#input.explain });
    try {
      this.#dispatch(method, paramsOf(params), exchange, session);
    } catch (error) {
      exchange.failed(error);
    }
  }

  #dispatch(method: string, params: JsonObject, exchange: DoorExchange, session: LiveSession | undefined): void {
    switch (method) {
      case 'ping':
        return exchange.answered('{}');
      case 'logging/setLevel':
        return exchange.answered(this.#setLevel(params, session));
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return answerWith(exchange, this.#subscribe(method, params, exchange.caller, session));
      default:
        return this.#methods.dispatch(method, params, exchange);
    }
  }

  async #subscribe(method: string, { uri }: JsonObject, caller: DoorCaller, session: LiveSession | undefined): Promise<string> {
    if (typeof uri !== 'string') throw new DoorError(rpcCodes.invalidParams, 'params.uri must be the address of a resource');
    if (session === undefined) throw new DoorError(rpcCodes.invalidRequest, 'A subscription belongs to a session: begin with initialize');
    if (method === 'resources/subscribe') await this.#subscriptionsOf(session, caller).add(uri);
    else session.subscriptions?.remove(uri);
    return '{}';
  }

  #setLevel(params: JsonObject, session: LiveSession | undefined): string {
    const level = logLevels.find((known) => known === params['level']);
    if (level === undefined) throw new DoorError(rpcCodes.invalidParams, `params.level must be one of ${logLevels.join(', ')}`);
    if (session !== undefined) {
      session.logLevel = level;
      this.#passOn(session.principal, { kind: 'level', session: session.terms.nonce, level });
    }
    return '{}';
  }

  #subscriptionsOf(session: LiveSession, caller: DoorCaller): Subscriptions {
    session.subscriptions ??= this.#methods.subscriptions(
      () => ({ ...caller, principal: session.principal }),
      (uri) => {
        const json = notificationText('notifications/resources/updated', { uri });
        // Its stream may be at another server.
        if (!session.speak(json)) this.#passOn(session.principal, { kind: 'speak', session: session.terms.nonce, json });
      },
    );
    return session.subscriptions;
  }
}

function needed(session: LiveSession | undefined): LiveSession {
  if (session === undefined) throw new DoorError(rpcCodes.badRequest, 'Send the Mcp-Session-Id that initialize gave', { status: 400 });
  return session;
}

function isRequest(message: JsonObject): message is JsonObject & Rpc {
  const { id, method } = message;
  return typeof method === 'string' && isRpcId(id);
}

function invalid(message: string): DoorError {
  return new DoorError(rpcCodes.invalidRequest, message, { status: 400 });
}
