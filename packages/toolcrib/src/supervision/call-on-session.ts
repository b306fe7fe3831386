import type { ToolOutput } from '../model/call.ts';
import type { EndSignal } from '../model/end-signal.ts';
import type { JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import { traced } from '../model/traced.ts';
import type { SpanAttributes } from '../model/tracing.ts';
import type { McpSession } from '../sources/mcp/mcp-session.ts';
import type { CallContext } from '../sources/source.ts';

/** One call of one caller, ended by the signal. `server` is what a trace says of whoever is asked. */
export function callOnSession(
  session: McpSession,
  tool: Tool,
  args: JsonObject,
  context: CallContext,
  signal: EndSignal,
  server: SpanAttributes,
): Promise<ToolOutput> {
  const { name } = tool.definition;
  // The semantic conventions for MCP name a client's span so.
  const span = context.span?.child(`tools/call ${name}`, { kind: 'client', attributes: { ...server, 'gen_ai.tool.name': name } });
  const output = session.callTool(name, args, {
    // The call itself has the deadline, which progress moves; it ends here through its signal.
    timeoutMs: Infinity,
    maxTotalMs: Infinity,
    signal,
    trace: span?.context ?? context.trace,
    onProgress: (update) => context.progress(update),
    onLog: (level, data) => context.log(level, data),
    onElicit: (request) => context.elicit(request),
  });
  return span === undefined ? output : traced(span, output, ownFailure);
}

/** What the tool itself reports, in the words of the semantic conventions. */
function ownFailure({ is_error }: ToolOutput): string | undefined {
  return is_error === true ? 'tool_error' : undefined;
}
