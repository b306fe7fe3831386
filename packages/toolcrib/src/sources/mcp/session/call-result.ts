import type { ContentBlock, ToolOutput } from '../../../model/call.ts';
import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import { ProtocolError } from '../../../model/named-errors.ts';
import type { RpcError } from './session-errors.ts';

/** A `CallToolResult`, checked as far as we rely on it. Blocks of unknown kinds are passed on unchanged. */
export function outputFromResult(result: JsonObject): ToolOutput {
  const { content, structuredContent, isError, _meta } = result;
  if (content !== undefined && !isBlocks(content)) throw new ProtocolError('The tool answered with content that is not a list of blocks');
  const output: ToolOutput = { content: content ?? [] };
  // Its name before the first public revision.
  const structured = structuredContent ?? (content === undefined ? result['toolResult'] : undefined);
  if (structured !== undefined) output.structured_content = structured;
  if (isError === true) output.is_error = true;
  const meta = ownMeta(_meta);
  if (meta !== undefined) output.metadata = { upstream_meta: meta };
  return output;
}

/** [ERR-7] The server is healthy and says that the call failed: an unknown tool, invalid arguments, an error of its own. */
export function outputFromRpcError({ message, rpcCode, data }: RpcError): ToolOutput {
  return {
    content: [{ type: 'text', text: message }],
    is_error: true,
    failure: failureOf(rpcCode),
    metadata: { rpc_error: { code: rpcCode, ...(data !== undefined && { data: data as Json }) } },
  };
}

/** [EXEC-6] By JSON-RPC 2.0 §5.1 and the codes of MCP. Most mean that the request was invalid; some that the server and we disagree. */
function failureOf(rpcCode: number): NonNullable<ToolOutput['failure']> {
  switch (rpcCode) {
    case -32_600:
    case -32_602:
      return { code: 'VALIDATION_ERROR' };
    case -32_601:
      return { code: 'NOT_FOUND' };
    // It could not read the message, still misses headers after a retry, or requires a capability that we do not have.
    case -32_700:
    case -32_020:
    case -32_021:
      return { origin: 'source' };
    default:
      return {};
  }
}

/** The result of a `resources/read`, as blocks for a model. */
export function outputFromContents(result: JsonObject): ToolOutput {
  const { contents } = result;
  if (!Array.isArray(contents) || !contents.every(isObject)) throw new ProtocolError('The resource was answered without its contents');
  return { content: contents.map(blockOf) };
}

function blockOf(contents: JsonObject): ContentBlock {
  const { text, blob, mimeType } = contents;
  if (typeof text === 'string') return { type: 'text', text };
  const type = /^(image|audio)\//.exec(typeof mimeType === 'string' ? mimeType : '')?.[1];
  if (typeof blob === 'string' && type !== undefined) return { type, data: blob, mimeType };
  return { type: 'resource', resource: contents };
}

function isBlocks(content: Json): content is Json[] & ContentBlock[] {
  return Array.isArray(content) && content.every((block) => isObject(block) && typeof block['type'] === 'string');
}

/** The server's own metadata of the answer, without the protocol's. */
function ownMeta(meta: Json | undefined): JsonObject | undefined {
  if (!isObject(meta)) return undefined;
  const own = Object.entries(meta).filter(([key]) => !key.startsWith('io.modelcontextprotocol/'));
  return own.length > 0 ? Object.fromEntries(own) : undefined;
}
