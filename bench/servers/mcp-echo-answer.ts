interface Request {
  id?: string | number;
  method?: string;
  params?: { protocolVersion?: string; arguments?: { text?: unknown } };
}

const tool = {
  name: 'echo',
  description: 'Gives the text back',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
};

/** The answers of the smallest possible MCP server: one tool that returns its text. Undefined if nothing is to be answered. */
export function mcpEchoAnswer(line: string): string | undefined {
  const { id, method = '', params } = JSON.parse(line) as Request;
  if (id === undefined) return undefined;
  const result = resultOf(method, params);
  const outcome = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
  return JSON.stringify({ jsonrpc: '2.0', id, ...outcome });
}

function resultOf(method: string, params: Request['params']): object | undefined {
  switch (method) {
    case 'tools/call':
      return { content: [{ type: 'text', text: String(params?.arguments?.text) }] };
    case 'tools/list':
      return { tools: [tool] };
    case 'initialize': {
      const protocolVersion = params?.protocolVersion ?? '2025-11-25';
      return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1.0.0' } };
    }
    case 'ping':
      return {};
    default:
      return undefined;
  }
}
