import type { ToolOutput } from '../model/call.ts';
import type { EndSignal } from '../model/end-signal.ts';
import type { JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import type { McpSession } from '../sources/mcp/mcp-session.ts';
import type { CallContext } from '../sources/source.ts';

/** One call of one caller, ended by the signal. */
export function callOnSession(
  session: McpSession,
  tool: Tool,
  args: JsonObject,
  context: CallContext,
  signal: EndSignal,
): Promise<ToolOutput> {
  return session.callTool(tool.definition.name, args, {
    // The call itself has the deadline, which progress moves; it ends here through its signal.
    timeoutMs: Infinity,
    maxTotalMs: Infinity,
    signal,
    onProgress: (update) => context.progress(update),
    onLog: (level, data) => context.log(level, data),
    onElicit: (request) => context.elicit(request),
  });
}
