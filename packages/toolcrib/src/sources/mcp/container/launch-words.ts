/** The first line on standard error is the process id that the launch script prints; the rest is the server's. */
export function createLaunchWords(onServerWords: (piece: Buffer) => void): { write(piece: Buffer): void; pid: Promise<number> } {
  const found = Promise.withResolvers<number>();
  let held: Buffer | undefined = Buffer.alloc(0);
  return {
    pid: found.promise,
    write(piece) {
      if (held === undefined) return onServerWords(piece);
      held = Buffer.concat([held, piece]);
      const end = held.indexOf(0x0a);
      if (end < 0 && held.length < 100) return;
      const line = held.toString('latin1', 0, Math.max(end, 0));
      const rest = held.subarray(end + 1);
      held = undefined;
      // Anything else means that the shell failed earlier, and says why.
      if (/^\d{1,10}$/.test(line)) found.resolve(Number(line));
      else onServerWords(Buffer.from(`${line}\n`));
      if (rest.length > 0) onServerWords(rest);
    },
  };
}
