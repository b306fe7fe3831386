import { createLogWriter, type LogWriter } from './log-writer.ts';

export interface LogLine {
  /** Epoch milliseconds. */
  time: number;
  /** The server's own output, an event, or a message to it or from it. */
  stream: 'stderr' | 'event' | 'sent' | 'received';
  text: string;
}

/** [MCP-3] The last lines and events of one source. Its size is bounded, however much the source writes. */
export interface ServerLog {
  /** For whole lines, such as events. Use a writer for output that comes in pieces, as from a pipe. */
  append(stream: LogLine['stream'], text: string): void;
  /** For the bytes of one process. Each process has its own writer, because several of one source may write at the same time. */
  writer(stream: LogLine['stream']): LogWriter;
  /** The last lines, oldest first. */
  tail(count: number): LogLine[];
  /** The last line of standard error since `time`. */
  lastWordsSince(time: number): string | undefined;
  /** Calls the listener with every further line; returns a function that removes the listener. */
  onLine(listener: (line: LogLine) => void): () => void;
}

export interface ServerLogOptions {
  /** [ENV-4] Applied to every line before it is kept. It gets one line at a time. */
  redact: (text: string) => string;
  maxLines?: number;
  maxBytes?: number;
  maxLineLength?: number;
  now?: () => number;
}

export function createServerLog(options: ServerLogOptions): ServerLog {
  const { redact, maxLines = 1000, maxBytes = 262_144, maxLineLength = 4096, now = Date.now } = options;
  const lines: LogLine[] = [];
  const listeners = new Set<(line: LogLine) => void>();
  let bytes = 0;

  function add(stream: LogLine['stream'], text: string): void {
    const line = { time: now(), stream, text };
    lines.push(line);
    bytes += Buffer.byteLength(text);
    while (lines.length > maxLines || (bytes > maxBytes && lines.length > 1)) bytes -= Buffer.byteLength(lines.shift()?.text ?? '');
    for (const listener of listeners) listener(line);
  }

  function writer(stream: LogLine['stream']): LogWriter {
    return createLogWriter({ redact, maxLineLength, onLine: (text) => add(stream, text) });
  }

  return {
    writer,
    append(stream, text) {
      const once = writer(stream);
      once.write(Buffer.from(text));
      once.end();
    },
    tail: (count) => (count > 0 ? lines.slice(-count) : []),
    lastWordsSince: (time) => lines.findLast((line) => line.stream === 'stderr' && line.time >= time)?.text,
    onLine(listener) {
      // Wrapped, so that a function added twice is called twice, and removed once.
      const listed = (line: LogLine) => listener(line);
      listeners.add(listed);
      return () => listeners.delete(listed);
    },
  };
}
