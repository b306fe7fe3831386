import { CribError } from '../../../model/crib-error.ts';
import type { Json, JsonObject } from '../../../model/json.ts';
import type { DiscoveredTool, ToolDefinition } from '../../../model/tool.ts';
import type { Redactor } from '../../../secrets/redactor.ts';
import { redactError, redactJsonFor, redactOutput } from '../../upstream/redacted.ts';
import type { McpCallOptions, McpSession } from './mcp-session.ts';
import type { SourceInfo } from '../../open-source.ts';
import type { SessionLoss } from './session-loss.ts';

/** [ENV-4] A server that prints its own environment must not give our secrets to its callers. */
export function redactedSession(session: McpSession, redactor: Redactor): McpSession {
  return {
    get info() {
      return redactor.redactJson({ ...session.info }) as unknown as SourceInfo;
    },
    get connected() {
      return session.connected;
    },
    get lastMessageAt() {
      return session.lastMessageAt;
    },
    async listTools(options) {
      return (await session.listTools(options)).map((tool) => redactTool(tool, redactor));
    },
    async callTool(name, args, options) {
      try {
        return redactOutput(await session.callTool(name, args, new RedactedOptions(options, redactor, args)), redactor, args);
      } catch (error) {
        throw error instanceof CribError ? redactError(error, redactor, args) : error;
      }
    },
    async ask(method, params, options) {
      try {
        return redactOutput(await session.ask(method, params, new RedactedOptions(options, redactor, params)), redactor, params);
      } catch (error) {
        throw error instanceof CribError ? redactError(error, redactor, params) : error;
      }
    },
    startTool(name, args, options, outcome) {
      return session.startTool(name, args, new RedactedOptions(options, redactor, args), {
        answered: (output) => outcome.answered(redactOutput(output, redactor, args)),
        failed: (error) => outcome.failed(error instanceof CribError ? redactError(error, redactor, args) : error),
      });
    },
    ping: (options) => session.ping(options),
    onLost: (listener) => session.onLost((loss) => listener(redactLoss(loss, redactor))),
    lose: (loss) => session.lose(loss),
    onToolsChanged: (listener) => session.onToolsChanged(listener),
    onOffersChanged: (listener) => session.onOffersChanged(listener),
    get calls() {
      return session.calls;
    },
    get waitingSince() {
      return session.waitingSince;
    },
    idle: () => session.idle(),
    ...(session.changedSecrets && { changedSecrets: session.changedSecrets }),
    close: (reason) => session.close(reason),
  };
}

function redactLoss(loss: SessionLoss, redactor: Redactor): SessionLoss {
  const { error, lastWords } = loss;
  return {
    ...loss,
    error: redactError(error, redactor),
    ...(lastWords && { lastWords: lastWords.map((line) => redactor.redact(line)) }),
  };
}

/** Messages of a server during a call reach the caller, too. A class, because every call needs one. */
class RedactedOptions implements McpCallOptions {
  readonly #options: McpCallOptions;
  readonly #redactor: Redactor;
  readonly #args: JsonObject;
  readonly timeoutMs: number;
  readonly maxTotalMs: number;

  constructor(options: McpCallOptions, redactor: Redactor, args: JsonObject) {
    this.#options = options;
    this.#redactor = redactor;
    this.#args = args;
    this.timeoutMs = options.timeoutMs;
    this.maxTotalMs = options.maxTotalMs;
  }

  get signal(): McpCallOptions['signal'] {
    return this.#options.signal;
  }

  get trace(): McpCallOptions['trace'] {
    return this.#options.trace;
  }

  get clientCapabilities(): McpCallOptions['clientCapabilities'] {
    return this.#options.clientCapabilities;
  }

  get watcher(): McpCallOptions['watcher'] {
    return this.#options.watcher;
  }

  onProgress(update: { progress: number; total?: number; message?: string }): void {
    this.#options.onProgress?.(redactJsonFor(update, this.#redactor, this.#args) as typeof update);
  }

  onLog(level: 'debug' | 'info' | 'warning' | 'error', data: Json): void {
    this.#options.onLog?.(level, redactJsonFor(data, this.#redactor, this.#args));
  }

  async onElicit(request: JsonObject, key?: string): Promise<JsonObject> {
    const asked = this.#options.onElicit?.(redactJsonFor(request, this.#redactor, this.#args) as JsonObject, key);
    return asked ?? { action: 'decline' };
  }

  async onAsk(method: string, params: JsonObject, key?: string): Promise<JsonObject> {
    const asked = this.#options.onAsk?.(method, redactJsonFor(params, this.#redactor, this.#args) as JsonObject, key);
    return asked ?? Promise.reject(new CribError('SERVICE_UNAVAILABLE', 'There is no client to ask', { retryable: false }));
  }
}

/** Redacts everything but the tool's name: a secret with the same text would make the tool impossible to call. */
function redactTool(tool: DiscoveredTool, redactor: Redactor): DiscoveredTool {
  const definition = redactor.redactJson(tool.definition as unknown as Json) as unknown as ToolDefinition;
  return definition === tool.definition ? tool : { ...tool, definition: { ...definition, name: tool.definition.name } };
}
