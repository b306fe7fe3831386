import { CribError } from '../../model/crib-error.ts';
import type { Json } from '../../model/json.ts';
import type { DiscoveredTool, ToolDefinition } from '../../model/tool.ts';
import type { Redactor } from '../../secrets/redactor.ts';
import { redactError, redactOutput } from '../upstream/redacted.ts';
import type { McpServerInfo, McpSession } from './mcp-session.ts';

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
        return redactOutput(await session.callTool(name, args, options), redactor);
      } catch (error) {
        throw error instanceof CribError ? redactError(error, redactor) : error;
      }
    },
    ping: (options) => session.ping(options),
    onLost: (listener) => session.onLost((reason) => listener(redactError(reason, redactor))),
    onToolsChanged: (listener) => session.onToolsChanged(listener),
    get calls() {
      return session.calls;
    },
    idle: () => session.idle(),
    close: () => session.close(),
  };
}

/** Not its name, by which it is called: whoever has given a secret the name of a tool would lose the tool. */
function redactTool(tool: DiscoveredTool, redactor: Redactor): DiscoveredTool {
  const definition = redactor.redactJson(tool.definition as unknown as Json) as unknown as ToolDefinition;
  return definition === tool.definition ? tool : { ...tool, definition: { ...definition, name: tool.definition.name } };
}
