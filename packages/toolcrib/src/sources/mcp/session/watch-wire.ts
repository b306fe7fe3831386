import type { Wire } from '../session-wire.ts';
import type { McpTransport } from './mcp-transport.ts';

/** [OPS-1] Tells of every message in both directions. To be called once the transport knows where its messages go. */
export function watchWire(transport: McpTransport, wire: Wire): void {
  const [{ tap }, send, post] = [transport, transport.send.bind(transport), transport.post?.bind(transport)];
  transport.tap = (message, relatedTo) => {
    if (wire.on) wire.note('received', message);
    return tap?.(message, relatedTo) ?? false;
  };
  if (post !== undefined) {
    // Where there is both, what is sent is posted.
    transport.post = (message) => {
      if (wire.on) wire.note('sent', message);
      post(message);
    };
    return;
  }
  transport.send = (message, options) => {
    if (wire.on) wire.note('sent', message);
    return send(message, options);
  };
}
