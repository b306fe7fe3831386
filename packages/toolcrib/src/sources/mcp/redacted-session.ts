import type { ContentBlock, ToolOutput } from '../../model/call.ts';
import { CribError } from '../../model/crib-error.ts';
import type { Json } from '../../model/json.ts';
import type { Redactor } from '../../secrets/redactor.ts';
import type { McpSession } from './mcp-session.ts';

/** [ENV-4] A server that prints its own environment must not hand our secrets to its callers. */
export function redactedSession(session: McpSession, redactor: Redactor): McpSession {
  return {
    get info() {
      return session.info;
    },
    get connected() {
      return session.connected;
    },
    get lastMessageAt() {
      return session.lastMessageAt;
    },
    listTools: (options) => session.listTools(options),
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

function redactOutput(output: ToolOutput, redactor: Redactor): ToolOutput {
  const content = redactor.redactJson(output.content as Json) as ContentBlock[];
  const structured = output.structured_content === undefined ? undefined : redactor.redactJson(output.structured_content);
  if (content === output.content && structured === output.structured_content) return output;
  return { ...output, content, ...(structured !== undefined && { structured_content: structured }) };
}

/** The same error where there is nothing to take out, so that its kind is not lost. */
function redactError(error: CribError, redactor: Redactor): CribError {
  const message = redactor.redact(error.message);
  const details = error.details === undefined ? undefined : redactor.redactJson(error.details);
  if (message === error.message && details === error.details) return error;
  const { code, field, retryable, retryAfterMs, upstreamStatus, cause } = error;
  return new CribError(code, message, { field, retryable, retryAfterMs, upstreamStatus, details, cause });
}
