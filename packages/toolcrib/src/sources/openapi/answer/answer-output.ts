import type { ToolOutput } from '../../../model/call.ts';
import { parseExactJson } from '../../../model/exact-json.ts';
import type { Json, JsonObject } from '../../../model/json.ts';
import type { HttpResponse } from '../../../net/http-exchange.ts';
import { isJsonType, mediaType } from '../../upstream/http/media-type.ts';
import { answerText } from '../../upstream/http/answer-text.ts';
import { fileName } from './file-name.ts';

const textTypes =
  /^(?:text\/.*|application\/(?:xml|yaml|x-yaml|javascript|x-ndjson|jsonl|graphql|sql|toml|x-www-form-urlencoded)|.*\+(?:xml|yaml))$/;
const unknownBytes = 'application/octet-stream';

/** [HTTP-2] Converts a body by content type: JSON to structured content, text to text, images and audio to theirs, the rest to a file. */
export function answerOutput(bytes: Buffer, response: Pick<HttpResponse, 'header' | 'status'>, metadata: JsonObject): ToolOutput {
  const contentType = response.header('content-type');
  const type = contentType === '' ? guessed(bytes) : mediaType(contentType);
  if (bytes.length === 0) return { content: [{ type: 'text', text: withoutBody(response) }], metadata };
  if (isJsonType(type)) return jsonOutput(answerText(bytes, contentType, { isJson: true }), metadata);
  if (textTypes.test(type)) return { content: [{ type: 'text', text: answerText(bytes, contentType, { isJson: false }) }], metadata };
  const [, kind] = /^(image|audio)\//.exec(type) ?? [];
  if (kind !== undefined) return { content: [{ type: kind, data: bytes.toString('base64'), mimeType: type }], metadata };
  const name = fileName(response.header('content-disposition')) ?? 'answer';
  const resource = { uri: `attachment:${encodeURIComponent(name)}`, name, mimeType: type, blob: bytes.toString('base64') };
  return { content: [{ type: 'resource', resource }], metadata };
}

function withoutBody({ status, header }: Pick<HttpResponse, 'header' | 'status'>): string {
  return status >= 300 ? `A redirect (${status}) to ${header('location')}` : '';
}

function jsonOutput(text: string, metadata: JsonObject): ToolOutput {
  let value: Json;
  let large = 0;
  try {
    value = parseExactJson(text, () => large++);
  } catch {
    // Invalid JSON may still be useful to the caller.
    return { content: [{ type: 'text', text }], metadata: { ...metadata, invalid_json: true } };
  }
  if (large > 0) metadata['integers_as_text'] = large;
  return { content: [{ type: 'text', text }], structured_content: value, metadata };
}

/** Guesses the media type of a response without a Content-Type header. */
function guessed(bytes: Buffer): string {
  const text = bytes.toString();
  if (text.includes('\0') || text.includes('\ufffd')) return unknownBytes;
  return /^\s*[[{]/.test(text) ? 'application/json' : 'text/plain';
}
