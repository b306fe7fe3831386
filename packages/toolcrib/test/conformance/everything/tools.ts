import {
  CLIENT_CAPABILITIES_META_KEY,
  fromJsonSchema,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  type McpServer,
  type RegisteredTool,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { askingTools } from './asking-tools.ts';
import { contentTools } from './content-tools.ts';
import type { FixtureTool, FixtureTools, Surroundings } from './fixture-tool.ts';
import { inputRequiredTools } from './input-required-tools.ts';
import { nameRequests } from './named-requests.ts';
import { notifyingTools } from './notifying-tools.ts';
import { schemaTools } from './schema-tools.ts';
import { text } from './samples.ts';

const tools: FixtureTools = { ...contentTools, ...notifyingTools, ...askingTools, ...inputRequiredTools, ...schemaTools };
const changing: FixtureTool = { description: 'Comes and goes', run: () => ({ content: [text('Here for now')] }) };

type Result = CallToolResult | InputRequiredResult;

/** Registers the tools. Returns the one that comes and goes. */
export function registerTools(server: McpServer, parts: Pick<Surroundings, 'states' | 'catalogue'>): RegisteredTool {
  const calls = new Map<string, { call: (args: unknown, context: ServerContext) => Promise<Result>; registered: RegisteredTool }>();
  const register = (name: string, { description, inputSchema, run }: FixtureTool): RegisteredTool => {
    const schema = fromJsonSchema<Record<string, string>>(inputSchema ?? { type: 'object', properties: {} });
    const call = async (args: unknown, context: ServerContext): Promise<Result> => {
      const { mcpReq: request, http } = context;
      const checked = await schema['~standard'].validate(args ?? {});
      if (checked.issues !== undefined) throw new Error(checked.issues.map(({ message }) => message).join('; '));
      return nameRequests(request, await run(checked.value, { ...parts, request, http, capabilities: capabilitiesOf(server, request) }));
    };
    const registered = server.registerTool(name, { description, inputSchema: schema }, call);
    calls.set(name, { call, registered });
    return registered;
  };
  for (const [name, tool] of Object.entries(tools)) register(name, tool);
  const extra = register('test_changing_tool', changing);
  // The SDK's own makes every error a result of the tool, those of the protocol too.
  server.server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = calls.get(params.name);
    if (tool?.registered.enabled !== true) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool ${params.name}`);
    try {
      return await tool.call(params.arguments, context);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      return { isError: true, content: [text(error instanceof Error ? error.message : String(error))] };
    }
  });
  return extra;
}

function capabilitiesOf(server: McpServer, { envelope }: ServerContext['mcpReq']) {
  const declared = (envelope as Record<string, ClientCapabilities> | undefined)?.[CLIENT_CAPABILITIES_META_KEY];
  return declared ?? server.server.getClientCapabilities() ?? {};
}
