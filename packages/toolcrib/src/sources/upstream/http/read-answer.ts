import { decodeBody } from '../../../net/decode-body.ts';
import type { HttpResponse } from '../../../net/http-exchange.ts';
import { tooLarge, type StreamCut } from '../../../net/http-body.ts';
import { mediaType } from './media-type.ts';

/** The body of a failure or redirect is short; a longer body is a page for people. */
const mostOfFailure = 65_536;
/** [EXEC-7] A larger body is not held in memory, whatever the limits of the tool. */
const mostOfAnswer = 33_554_432;
/** The time of a call that is reserved for the work after a stream that has not ended. */
const reservedMs = 1000;

const streams = new Set([
  'text/event-stream',
  'application/x-ndjson',
  'application/jsonl',
  'application/json-seq',
  'application/stream+json',
]);

export interface ReadBytes {
  bytes: Buffer;
  /** Why `bytes` is only the beginning of a stream. */
  cut?: StreamCut | undefined;
}

/** Reads the whole body and decompresses it; of a stream, the part that comes in time. */
export async function readAnswer(response: HttpResponse, leftMs: number | undefined): Promise<ReadBytes> {
  const isFailure = response.status >= 300;
  const most = isFailure ? mostOfFailure : mostOfAnswer;
  const encoding = response.header('content-encoding');
  if (!isFailure && encoding === '' && leftMs !== undefined && leftMs > 0 && isStream(response)) {
    const { bytes, cut } = await response.body.beginning(most, leftMs - Math.min(reservedMs, leftMs / 4));
    return cut === undefined ? { bytes } : { bytes: upToLastPart(bytes), cut };
  }
  if (Number(response.header('content-length')) > most) {
    response.body.destroy();
    if (isFailure) return { bytes: Buffer.alloc(0) };
    throw tooLarge(most);
  }
  try {
    const bytes = await response.body.bytes(most);
    return { bytes: encoding === '' ? bytes : await decodeBody(bytes, encoding, most) };
  } catch (error) {
    // The status already says that the request failed.
    if (isFailure) return { bytes: Buffer.alloc(0) };
    throw error;
  }
}

function isStream(response: HttpResponse): boolean {
  return streams.has(mediaType(response.header('content-type')));
}

/** Drops an incomplete last line, which could be misread. If no line is complete, an incomplete one is better than nothing. */
function upToLastPart(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf('\n') + 1;
  return end === 0 ? bytes : bytes.subarray(0, end);
}
