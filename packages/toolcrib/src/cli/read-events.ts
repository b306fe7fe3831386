export interface ServerEvent {
  event: string;
  data: string;
}

/** The events of a `text/event-stream`, in order, whatever pieces it arrives in. */
export async function* readEvents(body: AsyncIterable<Buffer>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  let event = 'message';
  let data: string[] = [];
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    // A line break at the very end may be the first half of \r\n, so it waits for what follows.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (line === '') {
        if (data.length > 0) yield { event, data: data.join('\n') };
        event = 'message';
        data = [];
      } else if (field === 'event') event = value;
      else if (field === 'data') data.push(value);
    }
  }
}
