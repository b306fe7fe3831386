/** Aborts on Ctrl-C. For good: one Ctrl-C may arrive more than once, and the next must not end the program before it has said its last word. */
export function interruptSignal(): AbortSignal {
  const interrupt = new AbortController();
  process.on('SIGINT', () => interrupt.abort());
  return interrupt.signal;
}

/** What a program ends with that a Ctrl-C has ended. */
export const interruptedCode = 130;
