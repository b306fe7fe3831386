import type { ContentBlock } from '../model/call.ts';
import { isObject, type Json } from '../model/json.ts';

/** A part of an answer as it is kept. */
export interface Artifact {
  type: string;
  mime_type: string;
  data: Buffer;
  /** Of a file. */
  name?: string;
}

const unknownBytes = 'application/octet-stream';
const plainText = 'text/plain; charset=utf-8';

/** One block of an answer as a file: pictures and sounds as they are, text as text, everything else as JSON. */
export function artifactOf(block: ContentBlock): Artifact | undefined {
  const { type, text, data, mimeType, resource } = block;
  if (type === 'text' && typeof text === 'string') return { type, mime_type: plainText, data: Buffer.from(text) };
  if ((type === 'image' || type === 'audio') && typeof data === 'string') {
    return { type, mime_type: safeMimeType(mimeType), data: Buffer.from(data, 'base64') };
  }
  if (type === 'resource' && isObject(resource)) {
    const { text: resourceText, blob, mimeType: resourceType, name } = resource;
    if (typeof blob === 'string') {
      const file = { type, mime_type: safeMimeType(resourceType), data: Buffer.from(blob, 'base64') };
      return typeof name === 'string' ? { ...file, name: name.slice(0, 200) } : file;
    }
    if (typeof resourceText === 'string') return { type, mime_type: plainText, data: Buffer.from(resourceText) };
  }
  return jsonArtifact('content', block as Json);
}

/** [HTTP-2] Bytes that are no use to a model as they are. */
export function isFile({ type, resource }: ContentBlock): boolean {
  return type === 'resource' && typeof resource === 'object' && resource !== null && 'blob' in resource;
}

/** Undefined where the value is nested too deeply to be written. */
export function jsonArtifact(type: 'structured' | 'content', value: Json): Artifact | undefined {
  try {
    return { type, mime_type: 'application/json', data: Buffer.from(JSON.stringify(value)) };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** It becomes a header, and a hostile server has chosen it. */
function safeMimeType(given: Json | undefined): string {
  return typeof given === 'string' && /^[a-z]{1,20}\/[\w.+-]{1,100}$/i.test(given) ? given.toLowerCase() : unknownBytes;
}
