import type { ContentBlock, ToolOutput } from '../model/call.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { artifactOf, isFile, jsonArtifact, type Artifact } from './artifact-of.ts';
import { jsonSize } from '../model/json-size.ts';

export interface CutOutput {
  output: ToolOutput;
  /** The parts that were taken out, in the order of their numbers, which begin with 1. */
  artifacts: Artifact[];
  /** False where nothing but files was taken out. */
  truncated: boolean;
}

/** Where an artifact can be fetched; undefined where nothing could be kept. */
export type ArtifactAddress = ((n: number) => string) | undefined;

/** However many blocks do not fit, there are no more artifacts than these: the last one holds all that is left. */
const mostArtifacts = 16;
/** Added to the size of each block, so that a million empty ones are not free. */
const blockBytes = 32;
/** Reserved for the marker, so that a cut answer is not larger than a whole one. */
const markerBytes = 512;
export const largestMetadata = 16_384;

/**
 * [EXEC-7] An answer cut to `most` bytes, with markers that say what is missing and where it is. Structured content comes first, because it is
 * the result; it is given whole or not at all, since half of it would be something else. With `takeFiles` files are taken out however small
 * they are.
 */
export function cutOutput(output: ToolOutput, most: number, addressOf: ArtifactAddress, { takeFiles = false } = {}): CutOutput {
  const artifacts: Artifact[] = [];
  let truncated = false;
  let room = most;

  /** Takes it out, and says where it went. */
  function keep(artifact: Artifact | undefined): string {
    if (artifact === undefined) return 'It is nested too deeply to be kept.';
    artifacts.push(artifact);
    return addressOf === undefined ? 'The rest could not be kept.' : `The whole is at ${addressOf(artifacts.length)}`;
  }

  let structured = output.structured_content;
  const content: ContentBlock[] = [];
  const markers: ContentBlock[] = [];
  const structuredBytes = jsonSize(structured ?? null, { most, exact: true });
  if (structured !== undefined && structured !== null && structuredBytes > most) {
    markers.push(marker(`The structured content is too large to show here. ${keep(jsonArtifact('structured', structured))}`));
    structured = null;
    truncated = true;
  } else room -= structuredBytes;

  for (const [index, block] of output.content.entries()) {
    const bytes = blockBytes + jsonSize(block as Json, { most: room, exact: true });
    const taken = takeFiles && artifacts.length < mostArtifacts - 1 && isFile(block) ? artifactOf(block) : undefined;
    if (taken !== undefined) {
      const { name = 'A file', mime_type, data } = taken;
      content.push(marker(`${name} (${mime_type}, ${data.length} bytes). ${keep(taken)}`));
    } else if (bytes <= room) {
      content.push(block);
      room -= bytes;
    } else if (artifacts.length === mostArtifacts - 1) {
      const rest = output.content.slice(index);
      truncated = true;
      markers.push(marker(`${rest.length} more parts do not fit here. ${keep(jsonArtifact('content', rest as Json))}`));
      break;
    } else {
      const artifact = artifactOf(block);
      truncated = true;
      const shown = block.type === 'text' && artifact !== undefined ? beginningOf(artifact.data, room - markerBytes) : '';
      const what =
        shown === '' ? `This part (${block.type.slice(0, 50)}) is too large to show here.` : `Cut after ${shown.length} characters.`;
      content.push(marker(`${what} ${keep(artifact)}`, shown));
      room = shown === '' ? room : 0;
    }
  }
  const { structured_content: _structured, metadata, ...rest } = output;
  const cut: ToolOutput = { ...rest, content: [...content, ...markers] };
  if (structured !== undefined) cut.structured_content = structured;
  if (metadata !== undefined) cut.metadata = smallFields(metadata);
  return { output: cut, artifacts, truncated: truncated || !takeFiles };
}

function marker(text: string, before = ''): ContentBlock {
  return { type: 'text', text: `${before}${before === '' ? '' : '\n'}[${text}]` };
}

/** As much of a text as fits into so many bytes, without half a character at its end. */
function beginningOf(utf8: Buffer, most: number): string {
  let end = Math.min(utf8.length, Math.max(0, most));
  while (end > 0 && end < utf8.length && ((utf8[end] ?? 0) & 0xc0) === 0x80) end--;
  return utf8.toString('utf8', 0, end);
}

function smallFields(metadata: JsonObject): JsonObject {
  const fields = Object.entries(metadata).map(([name, value]) => {
    const isSmall = jsonSize(value, { most: largestMetadata }) <= largestMetadata;
    return [name, isSmall ? value : null] as const;
  });
  return Object.fromEntries(fields);
}
