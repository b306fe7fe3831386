import { styleText } from 'node:util';
import { printable, remark } from './terminal.ts';

export interface ProgressLine {
  /** A line of its own, above the progress. */
  say(text: string): void;
  end(): void;
}

const clear = '\r\u001b[2K';

/** Says on standard error what is going on and, at a terminal, for how many seconds already. */
export function openProgressLine(label: string): ProgressLine {
  const stream = process.stderr;
  if (!stream.isTTY || process.env.TERM === 'dumb') {
    remark(`${label}…`);
    return { say: (text) => remark(`  ${text}`), end: () => undefined };
  }
  const startedAt = performance.now();
  const draw = () => {
    const seconds = Math.floor((performance.now() - startedAt) / 1000);
    stream.write(`${clear}${styleText('dim', `${printable(label)}… ${seconds} s`, { stream })}`);
  };
  const timer = setInterval(draw, 1000);
  draw();
  return {
    say(text) {
      stream.write(clear);
      remark(`  ${text}`);
      draw();
    },
    end() {
      clearInterval(timer);
      stream.write(clear);
    },
  };
}
