import type { ContentBlock, ToolOutput } from '../../model/call.ts';
import { CribError } from '../../model/crib-error.ts';
import type { Json } from '../../model/json.ts';
import type { DiscoveredTool, ToolDefinition } from '../../model/tool.ts';
import type { Redactor } from '../../secrets/redactor.ts';
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
    close: () => session.close(),
  };
}

/** Not its name, by which it is called: whoever has given a secret the name of a tool would lose the tool. */
function redactTool(tool: DiscoveredTool, redactor: Redactor): DiscoveredTool {
  const definition = redactor.redactJson(tool.definition as unknown as Json) as unknown as ToolDefinition;
  return definition === tool.definition ? tool : { ...tool, definition: { ...definition, name: tool.definition.name } };
}

function redactOutput(output: ToolOutput, redactor: Redactor): ToolOutput {
  const content = redactor.redactJson(output.content as Json) as ContentBlock[];
  const structured = output.structured_content === undefined ? undefined : redactor.redactJson(output.structured_content);
  if (content === output.content && structured === output.structured_content) return output;
  return { ...output, content, ...(structured !== undefined && { structured_content: structured }) };
}

/** The same error with other words: its kind decides whether a call is made again. */
export function redactError(error: CribError, redactor: Redactor): CribError {
  const message = redactor.redact(error.message);
  const details = error.details === undefined ? undefined : redactor.redactJson(error.details);
  if (message === error.message && details === error.details) return error;
  return Object.assign(error, { message, details, stack: redactor.redact(error.stack ?? '') });
}
