import type { ToolOutput } from '../model/call.ts';
import type { JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import type { McpSession } from '../sources/mcp/mcp-session.ts';
import type { CallContext } from '../sources/source.ts';

const longestCallMs = 86_400_000;

/** One call over one session, under the name the source itself has for the tool. */
export function callOn(session: McpSession, tool: Tool, args: JsonObject, context: CallContext): Promise<ToolOutput> {
  return session.callTool(tool.definition.name, args, {
    // The call itself has the deadline, which progress moves; it ends here through its signal.
    timeoutMs: longestCallMs,
    maxTotalMs: longestCallMs,
    signal: context.signal,
    onProgress: (update) => context.progress(update),
    onLog: (level, data) => context.log(level, data),
    onElicit: (request) => context.elicit(request),
  });
}
