export interface ServerEvent {
  event: string;
  data: string;
  id: string | undefined;
}

/** Parses the events of a `text/event-stream`, however it is split into chunks. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  let event = 'message';
  let id: string | undefined;
  let data: string[] = [];
  for await (const line of readLines(body)) {
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (line === '') {
      if (data.length > 0) yield { event, data: data.join('\n'), id };
      event = 'message';
      id = undefined;
      data = [];
    } else if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
    else if (field === 'id') id = value;
  }
}

/** Toolcrib ends its lines with `\n`; a proxy that rewrites them may use `\r\n`. */
async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  // Collected in pieces until the line ends: one line can be an answer of many megabytes.
  let pieces: string[] = [];
  for await (const chunk of body) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
    pieces.push(first);
    for (const next of others) {
      yield pieces.join('').replace(/\r$/, '');
      pieces = [next];
    }
  }
}
