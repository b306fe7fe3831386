import type { Answer, ContentBlock } from '../model/call.ts';
import { isObject, type Json, type JsonObject } from '../model/json.ts';
import { artifactUri } from './artifact-uri.ts';

const callIdKey = 'toolcrib/call_id';
const errorKey = 'toolcrib/error';

/** The answer of a call in MCP's form, as JSON. */
export function callResultText(answer: Answer, { version, modern }: { version: string; modern: boolean }): string {
  const { content, structured_content: structured, is_error: isError, error, metadata, call_id: callId } = answer;
  const upstream = metadata['upstream_meta'];
  const result = {
    ...(modern && { resultType: 'complete' }),
    content: [...content, ...(version > '2025-03-26' ? linksTo(callId, metadata['artifacts']) : [])],
    ...(structured !== null && (modern || isObject(structured)) && { structuredContent: structured }),
    ...(isError && { isError: true }),
    _meta: { ...(isObject(upstream) && upstream), [callIdKey]: callId, ...(error !== null && { [errorKey]: error as unknown as Json }) },
  };
  return JSON.stringify(result);
}

/** [DOOR-5] What was too large for the answer can be read as a resource, by whoever made the call. */
function linksTo(callId: string, artifacts: Json | undefined): ContentBlock[] {
  if (!Array.isArray(artifacts)) return [];
  return artifacts.filter(isObject).map((artifact) => linkTo(callId, artifact));
}

function linkTo(callId: string, { n, name, mime_type: mimeType, bytes }: JsonObject): ContentBlock {
  const number = Number(n);
  return {
    type: 'resource_link',
    uri: artifactUri(callId, number),
    name: typeof name === 'string' ? name : `part ${number}`,
    ...(mimeType !== undefined && { mimeType }),
    ...(bytes !== undefined && { size: bytes }),
  };
}
