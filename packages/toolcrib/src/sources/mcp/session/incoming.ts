import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../../model/json.ts';
import { answerQuestion, isForm } from './elicitation.ts';
import type { McpTransport, Tap } from './mcp-transport.ts';
import { isObject, type Requests } from './requests.ts';

const logLevels = {
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warning: 'warning',
  error: 'error',
  critical: 'error',
  alert: 'error',
  emergency: 'error',
} as const;

export interface Incoming {
  tap: Tap;
  readonly lastMessageAt: number;
  /** Whether the question which revision the server speaks has been answered at all. */
  readonly probeAnswered: boolean;
  /** Whether an answer to that question comes too late for anybody to want it. */
  probeIsOver: boolean;
  onListChanged: ((what: 'tools' | 'resources') => void) | undefined;
}

/** What becomes of every message of the server: ours is taken here, and the rest is left to the SDK. */
export function createIncoming(transport: McpTransport, requests: Requests, report: (error: unknown) => void): Incoming {
  const incoming = {
    tap,
    lastMessageAt: performance.now(),
    probeAnswered: false,
    probeIsOver: false,
    onListChanged: undefined as Incoming['onListChanged'],
  };

  function tap(message: JSONRPCMessage, relatedTo?: RequestId): boolean {
    incoming.lastMessageAt = performance.now();
    const { id, method, params } = message as { id?: RequestId; method?: string; params?: unknown };
    try {
      if (method === undefined) {
        if (typeof id === 'string' && id.startsWith('server-discover-probe')) {
          incoming.probeAnswered = true;
          return incoming.probeIsOver;
        }
        return requests.takeAnswer(message as { id?: unknown });
      }
      return id === undefined ? takeNotification(method, params, relatedTo) : takeRequest(id, method, params, relatedTo);
    } catch (error) {
      // A listener of ours failed; the connection and the other calls on it have nothing to do with that.
      report(error);
      return true;
    }
  }

  function takeNotification(method: string, params: unknown, relatedTo: RequestId | undefined): boolean {
    switch (method) {
      case 'notifications/progress':
        return requests.takeProgress(params);
      case 'notifications/message':
        if (isObject(params)) requests.callOf(relatedTo)?.log(levelOf(params['level']), params['data'] ?? null);
        return true;
      case 'notifications/tools/list_changed':
        incoming.onListChanged?.('tools');
        return false;
      case 'notifications/resources/list_changed':
        incoming.onListChanged?.('resources');
        return false;
      default:
        return false;
    }
  }

  /** The stateless revision has no requests of the server: it asks within its answers. */
  function takeRequest(id: RequestId, method: string, params: unknown, relatedTo: RequestId | undefined): boolean {
    if (method !== 'elicitation/create' || requests.envelope !== undefined) return false;
    if (isForm(params)) void answerQuestion(params, requests.callOf(relatedTo)).then((result) => reply({ id, result }));
    else reply({ id, error: { code: -32602, message: 'Only forms can be answered here' } });
    return true;
  }

  function reply(answer: JsonObject): void {
    transport.send({ jsonrpc: '2.0', ...answer } as unknown as JSONRPCMessage).catch(report);
  }

  return incoming;
}

function levelOf(level: unknown): 'debug' | 'info' | 'warning' | 'error' {
  return typeof level === 'string' && Object.hasOwn(logLevels, level) ? logLevels[level as keyof typeof logLevels] : 'info';
}
