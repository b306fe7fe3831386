import type { MessageContent } from '@langchain/core/messages';
import type { Answer, ContentBlock } from 'toolcrib';
import { formatForModel } from 'toolcrib/format-for-model';

/** The pictures that models take. */
const picture = /^image\/(png|jpeg|gif|webp)$/;

/**
 * A successful answer as a model reads it best: structured content as YAML, else the text; pictures as pictures. What no model can take is
 * named, so that it knows of it; the answer itself has it.
 */
export function messageContent(answer: Answer): MessageContent {
  const others = answer.content.filter(({ type }) => type !== 'text');
  const pictures = others.flatMap(pictureIn);
  const notes = others.flatMap(noteOn);
  const text = [formatForModel(answer), ...notes].filter((part) => part !== '').join('\n');
  if (pictures.length === 0) return text;
  return [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...pictures];
}

/** As a data address, the form that the integrations of all models understand. */
function pictureIn(block: ContentBlock) {
  const { data, mimeType } = binaryOf(block);
  if (data === undefined || !picture.test(mimeType)) return [];
  return [{ type: 'image_url' as const, image_url: { url: `data:${mimeType};base64,${data}` } }];
}

function noteOn(block: ContentBlock): string[] {
  const { data, mimeType } = binaryOf(block);
  if (data !== undefined) return picture.test(mimeType) ? [] : [`[${mimeType}, which cannot be shown here]`];
  if (block.type === 'resource_link') return [[block['title'] ?? block['name'], block['uri']].filter(isText).join(': ')];
  if (block.type !== 'resource') return [];
  const { text } = resourceOf(block);
  return isText(text) ? [text] : [];
}

/** Pictures and sounds have their bytes themselves, files in what they embed. */
function binaryOf(block: ContentBlock): { data: string | undefined; mimeType: string } {
  const { blob, ...resource } = resourceOf(block);
  const data = block.type === 'resource' ? blob : block['data'];
  const mimeType = block.type === 'resource' ? resource['mimeType'] : block['mimeType'];
  return { data: isText(data) ? data : undefined, mimeType: isText(mimeType) ? mimeType : 'application/octet-stream' };
}

function resourceOf(block: ContentBlock): Record<string, unknown> {
  const { resource } = block;
  return typeof resource === 'object' && resource !== null ? (resource as Record<string, unknown>) : {};
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
