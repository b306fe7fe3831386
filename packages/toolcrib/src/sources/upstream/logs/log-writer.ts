import { StringDecoder } from 'node:string_decoder';
import { plainLine } from './plain-line.ts';

/** Turns the bytes of one process, which come in any pieces, into lines. */
export interface LogWriter {
  write(bytes: Uint8Array): void;
  /** Finishes the last line, even without a line break. */
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
 * Until a line is redacted, this much more of it is kept than will be shown, so that a secret across the cut is still recognised. No value
 * of a source is longer.
 */
const longestSecret = 65_536;
const maxTailLines = 50;

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
    if (own.length > maxTailLines) own.shift();
    onLine(text);
  }

  function take(text: string): void {
    for (let at = 0; at < text.length;) {
      const newline = text.indexOf('\n', at);
      const end = newline < 0 ? text.length : newline;
      // The rest of a line that is too long is dropped here, so that an endless line costs no memory.
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
  // Do not cut through a surrogate pair.
  return `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
