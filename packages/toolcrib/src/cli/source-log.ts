import { z } from 'zod';
import { sourceLogSchema } from '../api.ts';
import { CribError } from '../model/crib-error.ts';
import { readEventStream } from '../net/read-event-stream.ts';
import { readJson } from './client.ts';
import { parseAnswer } from './parse-answer.ts';
import type { Administrator } from './source-client.ts';

const { time, text } = sourceLogSchema.shape.lines.element.shape;
const lineSchema = z.looseObject({ time, stream: z.string(), text });
const logSchema = z.looseObject({ lines: z.array(lineSchema) });
export type ShownLine = z.infer<typeof lineSchema>;

interface WantedLines {
  lines: number;
  /** The messages between Toolcrib and the source, and not what it said. */
  wire?: boolean;
}

function queryOf({ lines, wire = false }: WantedLines): Record<string, string> {
  return { lines: String(lines), ...(wire && { wire: 'true' }) };
}

/** What a source said last, oldest first. */
export async function readSourceLog({ client, token }: Administrator, id: string, wanted: WantedLines, signal?: AbortSignal) {
  const query = queryOf(wanted);
  return parseAnswer(logSchema, await client.json('GET', `/api/sources/${id}/logs`, { token, query, signal }), client.url);
}

/** What a source said last, and everything it says from then on, until the signal aborts or the server ends it. */
export async function* followSourceLog(
  { client, token }: Administrator,
  id: string,
  wanted: WantedLines,
  signal: AbortSignal,
): AsyncGenerator<ShownLine> {
  const options = { token, query: queryOf(wanted), accept: 'text/event-stream', signal, silenceMs: 0 };
  const response = await client.send('GET', `/api/sources/${id}/logs`, options);
  if (!response.contentType.startsWith('text/event-stream')) {
    await readJson(client.url, response);
    throw new CribError('NETWORK_ERROR', `${client.url} did not answer with a stream: is it a Toolcrib of this version?`);
  }
  for await (const { event, data } of readEventStream(response.body, Infinity)) if (event === 'line') yield parseLine(data, client.url);
}

function parseLine(data: string, url: string): ShownLine {
  try {
    return parseAnswer(lineSchema, JSON.parse(data), url);
  } catch (cause) {
    if (cause instanceof CribError) throw cause;
    throw new CribError('NETWORK_ERROR', `${url} sent an event that is not JSON`, { cause });
  }
}
