import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

const beginning = /^HTTP\/1\.[01] 100[ \r\n]/;
/** Whether all of it could be the start of the status line. */
const couldBegin = /^(?:H|HT|HTT|HTTP|HTTP\/(?:1(?:\.(?:[01](?: (?:1(?:00?)?)?)?)?)?)?)$/;
const end = '\r\n\r\n';
const mostHeld = 16_384;
/** The first digit of the status in the status line. */
const statusAt = 9;
const one = 0x31;

/**
 * RFC 9110 §15.2: a client ignores an unsolicited `100 Continue`. Undici takes it for a broken connection, so it is removed before undici sees
 * it: only at the beginning of an answer, which is after something was sent.
 */
export function passingOverContinue(connect: buildConnector.connector): buildConnector.connector {
  return (to, callback) =>
    connect(to, (...[error, socket]) => {
      if (error === null) callback(null, withoutContinue(socket));
      else callback(error, null);
    });
}

function withoutContinue<Connection extends Socket>(socket: Connection): Connection {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  let begins = true;
  let held: Buffer | undefined;

  socket.write = (...given: unknown[]) => {
    begins = true;
    return write(...given);
  };
  socket.read = (size?: number) => {
    const chunk = read(size);
    // An empty read makes the stream ask for more.
    if (!begins || chunk === null || size === 0) return chunk;
    // Most answers show at once that they are another one.
    if (held === undefined && chunk.length > statusAt && chunk[statusAt] !== one) {
      begins = false;
      return chunk;
    }
    const bytes = held === undefined ? chunk : Buffer.concat([held, chunk]);
    held = undefined;
    const rest = afterContinue(bytes);
    if (rest === undefined && bytes.length < mostHeld) {
      held = bytes;
      return null;
    }
    begins = rest?.length === 0;
    return begins ? null : (rest ?? bytes);
  };
  return socket;
}

/** The rest after it; undefined where more input is needed to tell. */
function afterContinue(bytes: Buffer): Buffer | undefined {
  let from = 0;
  for (;;) {
    const start = bytes.toString('latin1', from, from + 13);
    if (couldBegin.test(start) && from + start.length === bytes.length) return undefined;
    if (!beginning.test(start)) return bytes.subarray(from);
    const at = bytes.indexOf(end, from);
    if (at < 0) return undefined;
    from = at + end.length;
  }
}
