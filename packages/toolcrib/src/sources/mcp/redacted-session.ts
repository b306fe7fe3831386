import { CribError } from '../../model/crib-error.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { DiscoveredTool, ToolDefinition } from '../../model/tool.ts';
import type { Redactor } from '../../secrets/redactor.ts';
import { redactError, redactJsonFor, redactOutput } from '../upstream/redacted.ts';
import type { McpCallOptions, McpServerInfo, McpSession } from './mcp-session.ts';

/** [ENV-4] A server that prints its own environment must not hand our secrets to its callers. */
export function redactedSession(session: McpSession, redactor: Redactor): McpSession {
  return {
    get info() {
      return redactor.redactJson({ ...session.info }) as unknown as McpServerInfo;
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
        return redactOutput(await session.callTool(name, args, redactedOptions(options, redactor, args)), redactor, args);
      } catch (error) {
        throw error instanceof CribError ? redactError(error, redactor, args) : error;
      }
    },
    ping: (options) => session.ping(options),
    onLost: (listener) => session.onLost((reason) => listener(redactError(reason, redactor))),
    onToolsChanged: (listener) => session.onToolsChanged(listener),
    get calls() {
      return session.calls;
    },
    get waitingSince() {
      return session.waitingSince;
    },
    idle: () => session.idle(),
    close: (reason) => session.close(reason),
  };
}

/** What a server says in the middle of a call reaches the caller, too. */
function redactedOptions(options: McpCallOptions, redactor: Redactor, args: JsonObject): McpCallOptions {
  const { onProgress, onLog, onElicit } = options;
  return {
    ...options,
    ...(onProgress && { onProgress: (update) => onProgress(redactJsonFor(update, redactor, args) as typeof update) }),
    ...(onLog && { onLog: (level, data) => onLog(level, redactJsonFor(data, redactor, args)) }),
    ...(onElicit && { onElicit: (request) => onElicit(redactJsonFor(request, redactor, args) as JsonObject) }),
  };
}

/** Not its name, by which it is called: whoever has given a secret the name of a tool would lose the tool. */
function redactTool(tool: DiscoveredTool, redactor: Redactor): DiscoveredTool {
  const definition = redactor.redactJson(tool.definition as unknown as Json) as unknown as ToolDefinition;
  return definition === tool.definition ? tool : { ...tool, definition: { ...definition, name: tool.definition.name } };
}
