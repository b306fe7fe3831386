import { StringDecoder } from 'node:string_decoder';
import { plainLine } from './plain-line.ts';

/** Takes the bytes of one process in any pieces, and gives lines. */
export interface LogWriter {
  write(bytes: Uint8Array): void;
  /** The last line need not have had an end. */
  end(): void;
  /** The last lines of this process alone, oldest first. */
  tail(count: number): string[];
}

export interface LogWriterOptions {
  redact: (text: string) => string;
  maxLineLength: number;
  onLine: (text: string) => void;
}

/**
 * A line is kept somewhat longer than it will be shown until it has been redacted, so that a secret which lies across the cut is known for
 * what it is. No value of a source is longer than this.
 */
const longestSecret = 65_536;
const linesOfItsOwn = 50;

export function createLogWriter({ redact, maxLineLength, onLine }: LogWriterOptions): LogWriter {
  const decoder = new StringDecoder('utf8');
  const own: string[] = [];
  const longestKept = maxLineLength + longestSecret;
  let partial = '';

  function finishLine(): void {
    const text = cut(redact(plainLine(partial)), maxLineLength);
    partial = '';
    if (text === '') return;
    own.push(text);
    if (own.length > linesOfItsOwn) own.shift();
    onLine(text);
  }

  function take(text: string): void {
    for (let at = 0; at < text.length;) {
      const newline = text.indexOf('\n', at);
      const end = newline < 0 ? text.length : newline;
      // What does not fit is left out here already: a line without an end costs no memory.
      partial += text.slice(at, Math.min(end, at + longestKept - partial.length));
      if (newline >= 0) finishLine();
      at = end + 1;
    }
  }

  return {
    write: (bytes) => take(decoder.write(bytes)),
    end() {
      take(decoder.end());
      finishLine();
    },
    tail: (count) => (count > 0 ? own.slice(-count) : []),
  };
}

function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  // Not through the middle of a character that takes two code units.
  return `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
