import { decodeBody } from '../../../net/decode-body.ts';
import type { HttpResponse } from '../../../net/http-exchange.ts';
import { tooLarge, type StreamCut } from '../../../net/http-body.ts';
import { mediaType } from '../request/media-type.ts';

/** What a failure or a redirect says is short; what is longer is a page for people. */
const mostOfFailure = 65_536;
/** [EXEC-7] Whatever a tool's limits are: what is larger is nothing to be held in memory. */
const mostOfAnswer = 33_554_432;
/** So much of a call's time is left for what comes after a stream that has not ended. */
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
  /** Why it is only the beginning of a stream. */
  cut?: StreamCut | undefined;
}

/** The whole body, as it was before it was compressed; of a stream what came while there was time. */
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
    // That it failed is known without it.
    if (isFailure) return { bytes: Buffer.alloc(0) };
    throw error;
  }
}

function isStream(response: HttpResponse): boolean {
  return streams.has(mediaType(response.header('content-type')));
}

/** Half an event or line says something else than the whole; where there is no whole one, half of it is better than nothing. */
function upToLastPart(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf('\n') + 1;
  return end === 0 ? bytes : bytes.subarray(0, end);
}
