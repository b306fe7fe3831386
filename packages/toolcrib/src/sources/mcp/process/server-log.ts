import { createLogWriter, type LogWriter } from './log-writer.ts';

export interface LogLine {
  /** Epoch milliseconds. */
  time: number;
  /** What the server said, what happened to it, or a message to it or from it. */
  stream: 'stderr' | 'event' | 'sent' | 'received';
  text: string;
}

/** [MCP-3] The last things one source said and that happened to it, however much it says. */
export interface ServerLog {
  /** Whole lines, such as events. What comes in pieces, as from a pipe, goes through a writer. */
  append(stream: LogLine['stream'], text: string): void;
  /** For the bytes of one process. Each process has its own, because several of one source may speak at the same time. */
  writer(stream: LogLine['stream']): LogWriter;
  /** The last lines, oldest first. */
  tail(count: number): LogLine[];
  /** The last line of standard error, unless it was written before then. */
  lastWordsSince(time: number): string | undefined;
  /** Tells of every further line; the function that comes back ends that. */
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
      // Wrapped, so that the same function given twice is told twice, and taken off once.
      const told = (line: LogLine) => listener(line);
      listeners.add(told);
      return () => listeners.delete(told);
    },
  };
}
