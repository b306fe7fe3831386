import type { MessageContent } from '@langchain/core/messages';
import type { Answer, ContentBlock } from 'toolcrib';
import { formatForModel } from 'toolcrib/format-for-model';

/** The image types that models accept. */
const picture = /^image\/(png|jpeg|gif|webp)$/;

/**
 * Formats a successful answer for a model: structured content as YAML, else the text; images as images. Content that models do not accept
 * is only mentioned; the answer itself contains it.
 */
export function messageContent(answer: Answer): MessageContent {
  const others = answer.content.filter(({ type }) => type !== 'text');
  const pictures = others.flatMap(pictureIn);
  const notes = others.flatMap(noteOn);
  const text = [formatForModel(answer), ...notes].filter((part) => part !== '').join('\n');
  if (pictures.length === 0) return text;
  return [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...pictures];
}

/** As a data URL, which the integrations of all models understand. */
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

/** Images and audio contain their bytes directly, embedded files in their resource. */
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
