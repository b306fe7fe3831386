/** Aborts on Ctrl-C. Never removed: one Ctrl-C may arrive more than once, and the next must not end the program before it has reported. */
export function interruptSignal(): AbortSignal {
  const interrupt = new AbortController();
  process.on('SIGINT', () => interrupt.abort());
  return interrupt.signal;
}

/** The exit code after Ctrl-C. */
export const interruptedCode = 130;
