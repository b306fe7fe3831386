import { tooLarge } from './http-body.ts';

export interface StreamEvent {
  event: string;
  /** Empty where the event only carried an id or a retry time. */
  data: string;
  id: string | undefined;
  retryMs: number | undefined;
}

/** The events of a `text/event-stream` in order, whatever pieces it arrives in, each of bounded size. */
export async function* readEventStream(body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<StreamEvent, void, undefined> {
  const parser = createEventParser(maxBytes);
  for await (const chunk of body) yield* parser(chunk);
}

/** Takes the next piece of a stream and gives back the events it completes. */
export type EventParser = (chunk: Buffer) => StreamEvent[];

export function createEventParser(maxBytes: number): EventParser {
  const decode = createTextReader();
  const parse = createTextParser(maxBytes);
  return (chunk) => parse(decode(chunk));
}

/** Decodes UTF-8 in pieces, without the byte order mark. A decoder is costly, and only a piece that ends within a character needs one. */
function createTextReader(): (chunk: Buffer) => string {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let begun = false;
  return (chunk) => {
    const endsWhole = (chunk.at(-1) ?? 0) < 0x80;
    if (decoder === undefined && endsWhole && (begun || chunk[0] !== 0xef)) {
      begun ||= chunk.length > 0;
      return chunk.toString();
    }
    decoder ??= new TextDecoder('utf-8', { ignoreBOM: begun });
    return decoder.decode(chunk, { stream: true });
  };
}

function createTextParser(maxLength: number): (text: string) => StreamEvent[] {
  // Kept in pieces until the line ends: joining and searching anew for every chunk would cost the square of a long line.
  let pieces: string[] = [];
  let length = 0;
  let skipLineFeed = false;
  let data: string[] = [];
  let next: Omit<StreamEvent, 'data'> = { event: 'message', id: undefined, retryMs: undefined };

  function keep(piece: string): void {
    if (piece === '') return;
    length += piece.length;
    if (length > maxLength) throw tooLarge(maxLength);
    pieces.push(piece);
  }

  function takeField(line: string): void {
    const colon = line.indexOf(':');
    // A comment, which only keeps the connection awake.
    if (colon === 0) length -= line.length;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') data.push(value);
    else if (field === 'event') next.event = value;
    else if (field === 'id' && !value.includes('\0')) next.id = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) next.retryMs = Number(value);
  }

  return (text) => {
    const events: StreamEvent[] = [];
    // The first half of \r\n ended the last piece.
    let start = skipLineFeed && text.startsWith('\n') ? 1 : 0;
    if (text !== '') skipLineFeed = false;
    const lineBreak = /\r\n?|\n/g;
    lineBreak.lastIndex = start;
    for (let found = lineBreak.exec(text); found !== null; found = lineBreak.exec(text)) {
      keep(text.slice(start, found.index));
      start = lineBreak.lastIndex;
      skipLineFeed = found[0] === '\r' && start === text.length;
      const line = pieces.length === 1 ? pieces[0]! : pieces.join('');
      pieces = [];
      if (line !== '') {
        takeField(line);
        continue;
      }
      if (data.length > 0 || next.id !== undefined || next.retryMs !== undefined) events.push({ ...next, data: data.join('\n') });
      data = [];
      length = 0;
      next = { event: 'message', id: undefined, retryMs: undefined };
    }
    keep(text.slice(start));
    return events;
  };
}
