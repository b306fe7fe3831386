import { isUnchanged } from '../execution/answer-json.ts';
import type { Answer, ContentBlock, RawText } from '../model/call.ts';
import { isObject, type Json, type JsonObject } from '../model/json.ts';
import { artifactUri } from './artifact-uri.ts';
import { modernVersion } from './door-caller.ts';

const callIdKey = 'toolcrib/call_id';
const errorKey = 'toolcrib/error';

/** The answer of a call in MCP's form, as JSON. A large text that the source wrote as JSON is not written again. */
export function callResultText(answer: Answer, version: string, raw?: RawText): string {
  const { structured_content: structured, is_error: isError, error, metadata, call_id: callId } = answer;
  const modern = version === modernVersion;
  const upstream = metadata['upstream_meta'];
  const meta = {
    ...(isObject(upstream) && upstream),
    [callIdKey]: callId,
    ...(error !== null && { [errorKey]: error as unknown as Json }),
  };
  const type = modern ? '"resultType":"complete",' : '';
  const value = structured !== null && (modern || isObject(structured)) ? `,"structuredContent":${JSON.stringify(structured)}` : '';
  const failed = isError ? ',"isError":true' : '';
  return `{${type}"content":${contentText(answer, version, raw)}${value}${failed},"_meta":${JSON.stringify(meta)}}`;
}

function contentText(answer: Answer, version: string, raw: RawText | undefined): string {
  const { content, metadata, call_id: callId } = answer;
  const links = version > '2025-03-26' ? linksTo(callId, metadata['artifacts']) : [];
  if (raw !== undefined && links.length === 0 && isUnchanged(answer, raw)) return `[{"type":"text","text":${raw.json}}]`;
  return JSON.stringify(links.length === 0 ? content : [...content, ...links]);
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
