import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { endWithToken } from '../http/end-with-token.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import type { Seals } from '../secrets/seals.ts';
import { askSource, callTool } from './call-tool.ts';
import { abilitiesOf, agentOf, noAbilities, legacyVersions, type DoorCaller } from './door-caller.ts';
import { logLevels, type DoorExchange, type LogLevel } from './door-exchange.ts';
import { capabilities, createDoorMethods, paramsOf, serverInfo } from './door-methods.ts';
import type { DoorParts } from './door-parts.ts';
import type { Visit } from './door-visit.ts';
import { LegacyAnswer } from './legacy-answer.ts';
import type { LiveSession } from './live-session.ts';
import { LiveSessions } from './live-sessions.ts';
import { DoorError, errorText, notificationText, resultText, rpcCodes, type RpcId } from './rpc.ts';
import { openSessionId, sealSessionId, type SessionTerms } from './session-id.ts';
import { parseEventId } from './stream-log.ts';
import { followTools } from './follow-tools.ts';

export interface LegacyDoorInput {
  parts: DoorParts;
  seals: Seals;
  /** Aborts when the server begins to stop. */
  closing: AbortSignal;
}

interface Rpc {
  id: RpcId;
  method: string;
  params: unknown;
}

interface OpenSession {
  id: string;
  terms: SessionTerms;
  live: LiveSession;
}

const sessionHeader = 'mcp-session-id';
const versionHeader = 'mcp-protocol-version';
/** Assumed of clients that name none. */
const assumedVersion = '2025-03-26';

/** [DOOR-2] The revisions with a handshake and sessions: 2025-03-26 to 2025-11-25. */
export class LegacyDoor {
  readonly #input: LegacyDoorInput;
  readonly #sessions = new LiveSessions();
  readonly #methods;

  constructor(input: LegacyDoorInput) {
    this.#input = input;
    this.#methods = createDoorMethods(
      input.parts,
      (exchange, tool, args) => callTool(input.parts.executor, exchange, tool, args),
      (exchange, request, args) => askSource(input.parts.executor, exchange, request, args),
    );
  }

  post(visit: Visit, body: unknown): void {
    const messages = Array.isArray(body) ? body : [body];
    if (messages.length === 0 || !messages.every(isObject)) throw invalid('The body is no JSON-RPC message');
    const [first] = messages;
    if (first?.['method'] === 'initialize') return this.#initialize(visit, messages);
    const session = this.#sessionOf(visit);
    const version = this.#versionOf(visit.headers, session);
    if (Array.isArray(body) && version !== assumedVersion) throw invalid('Batches are not part of this revision of the protocol');
    const requests = messages.filter(isRequest);
    for (const message of messages) if (!isRequest(message)) this.#take(message, session);
    if (requests.length === 0) return visit.reply.send(202);
    const streams = visit.headers.accept?.includes('text/event-stream') ?? false;
    const answer = new LegacyAnswer({
      reply: visit.reply,
      session: session?.live,
      requests: requests.length,
      isBatch: Array.isArray(body),
      streams,
    });
    const caller: DoorCaller = {
      principal: visit.principal,
      address: visit.address,
      version,
      agent: session?.terms.agent ?? null,
      abilities: session?.terms.abilities ?? noAbilities,
    };
    for (const request of requests) void this.#answer(request, caller, session, answer);
  }

  /** [DOOR-5] The stream on which the server speaks by itself, or the rest of one whose connection was lost. */
  get({ principal, address, headers, reply }: Visit): void {
    if (headers.accept?.includes('text/event-stream') !== true)
      throw new DoorError(rpcCodes.badRequest, 'Send Accept: text/event-stream', { status: 406 });
    const session = this.#sessionOf({ principal, headers });
    if (session === undefined) throw new DoorError(rpcCodes.badRequest, 'Send the Mcp-Session-Id that initialize gave', { status: 400 });
    this.#versionOf(headers, session);
    const { live } = session;
    const lastSeen = headers['last-event-id'];
    const resumed = typeof lastSeen === 'string' ? parseEventId(lastSeen) : undefined;
    const known = resumed && live.streamOf(resumed.stream);
    const writer = reply.stream([sessionHeader, session.id]);
    const stream = known ?? live.openStream();
    stream.attach(writer, known === undefined ? 0 : (resumed?.seen ?? 0));
    endWithToken(
      { closed: false, send: () => undefined, onClose: (listener) => writer.onClose(listener), close: () => writer.end() },
      principal,
      this.#input.closing,
    );
    if (known !== undefined) return;
    const caller: DoorCaller = { principal, address, ...session.terms };
    const stop = followTools(
      this.#input.parts.inventory,
      () => this.#methods.toolsOf(caller).page(undefined, false),
      () => stream.add(notificationText('notifications/tools/list_changed', undefined)),
    );
    writer.onClose(() => {
      stop();
      live.dropStream(stream);
    });
  }

  /** The client ends its session. */
  delete({ principal, headers, reply }: Visit): void {
    const session = this.#sessionOf({ principal, headers });
    if (session === undefined) throw new DoorError(rpcCodes.badRequest, 'Send the Mcp-Session-Id that initialize gave', { status: 400 });
    session.live.end();
    reply.send(200);
  }

  #initialize({ principal, reply }: Visit, messages: JsonObject[]): void {
    const [message] = messages;
    if (messages.length > 1 || message === undefined || !isRequest(message)) throw invalid('initialize must be a request of its own');
    const params = paramsOf(message.params);
    const asked = params['protocolVersion'];
    const version = legacyVersions.find((known) => known === asked) ?? legacyVersions[0];
    const terms: SessionTerms = { version, agent: agentOf(params['clientInfo']), abilities: abilitiesOf(params['capabilities']) };
    const id = sealSessionId(this.#input.seals, principal, terms, randomUUID());
    const result = { protocolVersion: version, capabilities, serverInfo };
    reply.send(200, resultText(message.id, JSON.stringify(result)), [sessionHeader, id]);
  }

  /** [DOOR-4] Undefined where none is named; with an id that does not open for this caller, the client is told to begin anew. */
  #sessionOf({ principal, headers }: Pick<Visit, 'principal' | 'headers'>): OpenSession | undefined {
    const id = headers[sessionHeader];
    if (id === undefined) return undefined;
    const terms = typeof id === 'string' ? openSessionId(this.#input.seals, principal, id) : undefined;
    const live = terms && this.#sessions.of(String(id));
    if (terms === undefined || live === undefined) throw new DoorError(rpcCodes.sessionNotFound, 'Session not found', { status: 404 });
    return { id: String(id), terms, live };
  }

  #versionOf(headers: IncomingHttpHeaders, session: OpenSession | undefined): string {
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

  /** A notification, or the answer to a question. */
  #take(message: JsonObject, session: OpenSession | undefined): void {
    const { method, params } = message;
    if (method === 'notifications/cancelled') session?.live.cancel(isObject(params) ? params['requestId'] : undefined);
    else if (method === undefined) session?.live.answered(message);
  }

  async #answer({ id, method, params }: Rpc, caller: DoorCaller, session: OpenSession | undefined, answer: LegacyAnswer): Promise<void> {
    const exchange = new LegacyExchange(caller, session?.live, answer, params);
    const done = session?.live.running(id, () => exchange.cancel());
    try {
      answer.answer(resultText(id, await this.#dispatch(method, paramsOf(params), exchange, session)));
    } catch (error) {
      answer.answer(errorText(id, asDoorError(error)));
    } finally {
      done?.();
    }
  }

  async #dispatch(method: string, params: JsonObject, exchange: DoorExchange, session: OpenSession | undefined): Promise<string> {
    if (method === 'ping') return '{}';
    if (method !== 'logging/setLevel') return this.#methods.dispatch(method, params, exchange);
    const level = logLevels.find((known) => known === params['level']);
    if (level === undefined) throw new DoorError(rpcCodes.invalidParams, `params.level must be one of ${logLevels.join(', ')}`);
    if (session !== undefined) session.live.logLevel = level;
    return '{}';
  }
}

class LegacyExchange implements DoorExchange {
  readonly caller: DoorCaller;
  readonly progressToken: string | number | undefined;
  readonly #session: LiveSession | undefined;
  readonly #answer: LegacyAnswer;
  readonly #cancels: (() => void)[] = [];

  constructor(caller: DoorCaller, session: LiveSession | undefined, answer: LegacyAnswer, params: unknown) {
    this.caller = caller;
    this.#session = session;
    this.#answer = answer;
    this.progressToken = progressTokenOf(params);
  }

  get logLevel(): LogLevel | undefined {
    return this.#session?.logLevel;
  }

  notify = (method: string, params: JsonObject): void => this.#answer.tell(notificationText(method, params));

  async ask(method: string, params: JsonObject): Promise<JsonObject> {
    if (this.#session === undefined || !this.#answer.canTell) throw new Error('The client cannot be asked');
    const { json, answer } = this.#session.question(method, params);
    this.#answer.tell(json);
    return answer;
  }

  onGone(listener: () => void): void {
    this.#cancels.push(listener);
    this.#answer.onGone(listener);
  }

  cancel(): void {
    for (const listener of this.#cancels) listener();
  }
}

export function progressTokenOf(params: unknown): string | number | undefined {
  const meta = isObject(params) ? params['_meta'] : undefined;
  const token = isObject(meta) ? meta['progressToken'] : undefined;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

/** What is not an error of the protocol is a fault of ours, or a refusal in words. */
export function asDoorError(error: unknown): DoorError {
  if (error instanceof DoorError) return error;
  const message = error instanceof Error ? error.message : 'Something failed inside Toolcrib';
  return new DoorError(rpcCodes.internal, message);
}

function isRequest(message: JsonObject): message is JsonObject & Rpc {
  const { id, method } = message;
  return typeof method === 'string' && (typeof id === 'string' || typeof id === 'number');
}

function invalid(message: string): DoorError {
  return new DoorError(rpcCodes.invalidRequest, message, { status: 400 });
}
