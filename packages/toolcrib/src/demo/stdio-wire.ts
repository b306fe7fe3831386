/** The fields of a JSON-RPC message that the server reads. */
export interface Message {
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
}

export interface Wire {
  send(message: object): void;
}

const headerEnd = '\r\n\r\n';
const longestMessage = 1_000_000;

/**
 * Reads messages from standard input and writes to standard output: one per line, or each after a `Content-Length` header, whichever the
 * client begins with.
 */
export function openStdioWire(onMessage: (message: Message) => void): Wire {
  let held = Buffer.alloc(0);
  let withHeaders: boolean | undefined;

  /** The text of the next complete message; undefined until it has arrived. */
  function next(): string | undefined {
    if (withHeaders === undefined && held.length > 0) withHeaders = /^c/i.test(held.toString('latin1', 0, 1));
    if (withHeaders !== true) return take(held.indexOf('\n'), 1);
    const end = held.indexOf(headerEnd);
    if (end < 0) return undefined;
    const length = Number(/content-length: *(\d+)/i.exec(held.toString('latin1', 0, end))?.[1] ?? 0);
    if (held.length < end + headerEnd.length + length) return undefined;
    held = held.subarray(end + headerEnd.length);
    return take(length, 0);
  }

  function take(end: number, behind: number): string | undefined {
    if (end < 0) return undefined;
    const text = held.toString('utf8', 0, end);
    held = held.subarray(end + behind);
    return text;
  }

  process.stdin.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    if (held.length > longestMessage) process.exit(1);
    for (let text = next(); text !== undefined; text = next()) if (text.trim() !== '') onMessage(JSON.parse(text) as Message);
  });
  // The client is gone.
  process.stdin.on('end', () => process.exit(0));

  return {
    send(message) {
      const json = JSON.stringify({ jsonrpc: '2.0', ...message });
      process.stdout.write(withHeaders === true ? `Content-Length: ${Buffer.byteLength(json)}${headerEnd}${json}` : `${json}\n`);
    },
  };
}
