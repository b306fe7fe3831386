const headerBytes = 4;

/** Messages in a stream of bytes: the length of each, then the message. */
export function frameOf(message: Buffer): [header: Buffer, message: Buffer] {
  const header = Buffer.allocUnsafe(headerBytes);
  header.writeUInt32LE(message.length);
  return [header, message];
}

/** Takes chunks as they come and emits whole messages. Throws a `RangeError` for one longer than `mostBytes`, before buffering it. */

export function createFrameReader(mostBytes: number, onMessage: (message: Buffer) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let held = 0;
  let wanted = headerBytes;
  let isHeader = true;

  return (chunk) => {
    let rest = chunk;
    while (held + rest.length >= wanted) {
      const taken = wanted - held;
      const whole = Buffer.concat([...parts, rest.subarray(0, taken)]);
      rest = rest.subarray(taken);
      parts = [];
      held = 0;
      if (!isHeader) onMessage(whole);
      wanted = isHeader ? whole.readUInt32LE() : headerBytes;
      isHeader = !isHeader;
      if (wanted > mostBytes) throw new RangeError(`A message has more than ${mostBytes} bytes`);
    }
    if (rest.length > 0) parts.push(rest);
    held += rest.length;
  };
}
