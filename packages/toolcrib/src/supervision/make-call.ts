import type { ToolOutput } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import type { McpSession } from '../sources/mcp/mcp-session.ts';
import { SessionLostError } from '../sources/mcp/session/session-errors.ts';
import type { CallContext } from '../sources/source.ts';
import type { TakenSession } from './user-sessions.ts';

interface CallRules {
  /** A session for one call. */
  take(context: CallContext): Promise<TakenSession>;
  /** Whether a session that is lost is replaced by another. */
  replaced: boolean;
  succeeded(): void;
  failed(error: CribError): void;
}

const longestCallMs = 86_400_000;

/** One call over whatever session it is given; once more over the next where that cannot do harm. */
export async function makeCall(rules: CallRules, tool: Tool, args: JsonObject, context: CallContext): Promise<ToolOutput> {
  const { take, replaced, succeeded, failed } = rules;
  async function attempt(): Promise<ToolOutput> {
    const { session, giveBack } = await take(context);
    try {
      const output = await callOn(session, tool, args, context);
      succeeded();
      return output;
    } finally {
      giveBack();
    }
  }
  try {
    return await attempt();
  } catch (error) {
    // A caller who went away says nothing about the server.
    if (context.signal.aborted) throw error;
    if (error instanceof CribError) failed(error);
    if (!replaced || !(error instanceof SessionLostError) || (error.mayHaveRun && !isHarmless(tool))) throw error;
    // [MCP-11] Once, over the session that is being opened in place of the lost one.
    const output = await attempt();
    return { ...output, metadata: { ...output.metadata, attempts: 2 } };
  }
}

function callOn(session: McpSession, tool: Tool, args: JsonObject, context: CallContext): Promise<ToolOutput> {
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

/** What may be done twice without harm, by the tool's own word. */
function isHarmless({ definition: { annotations } }: Tool): boolean {
  return annotations?.['readOnlyHint'] === true || annotations?.['idempotentHint'] === true;
}
