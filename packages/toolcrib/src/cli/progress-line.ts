import { styleText } from 'node:util';
import { align } from '../text/align.ts';
import { remark } from './terminal.ts';
import { printable } from '../text/printable.ts';

export interface ProgressLine {
  /** A line of its own, above the progress. */
  say(text: string): void;
  /** What is happening now; replaces the last text. */
  tell(detail: string): void;
  end(): void;
}

const clear = '\r\u001b[2K';
/** Without a terminal nothing can be overwritten, so the progress is printed now and then. */
const tellEveryMs = 10_000;

/** Shows on standard error what is happening and, at a terminal, for how many seconds. */
export function openProgressLine(label: string): ProgressLine {
  const stream = process.stderr;
  if (!stream.isTTY || process.env.TERM === 'dumb') return plainLines(label);
  const startedAt = performance.now();
  let shownDetail = '';
  const draw = () => {
    const seconds = Math.floor((performance.now() - startedAt) / 1000);
    const text = shownDetail === '' ? `${printable(label)}… ${seconds} s` : `${printable(label)}: ${shownDetail}`;
    // A line that wraps could not be cleared. Some terminals do not report their width.
    const [fitting = ''] = align([[text]], { width: (stream.columns || 80) - 1 });
    stream.write(`${clear}${styleText('dim', fitting, { stream })}`);
  };
  const timer = setInterval(draw, 1000);
  draw();
  return {
    say(text) {
      stream.write(clear);
      remark(`  ${text}`);
      draw();
    },
    tell(detail) {
      shownDetail = detail;
      draw();
    },
    end() {
      clearInterval(timer);
      stream.write(clear);
    },
  };
}

function plainLines(label: string): ProgressLine {
  let toldAt = -Infinity;
  remark(`${label}…`);
  return {
    say: (text) => remark(`  ${text}`),
    tell(detail) {
      if (detail === '' || performance.now() - toldAt < tellEveryMs) return;
      toldAt = performance.now();
      remark(`  (${detail})`);
    },
    end: () => undefined,
  };
}
