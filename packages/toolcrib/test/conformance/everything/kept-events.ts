import type { EventStore } from '@modelcontextprotocol/server';

/** The events of one session, for a client that comes back after its stream was closed. */
export function keptEvents(): EventStore {
  const events: { stream: string; message: Parameters<EventStore['storeEvent']>[1] }[] = [];
  return {
    async storeEvent(stream, message) {
      events.push({ stream, message });
      return String(events.length);
    },
    async replayEventsAfter(lastEventId, { send }) {
      const last = Number(lastEventId);
      const stream = events[last - 1]?.stream ?? '';
      for (const [index, event] of events.entries()) {
        // A priming event has nothing to say.
        if (index < last || event.stream !== stream || !('jsonrpc' in event.message)) continue;
        await send(String(index + 1), event.message);
      }
      return stream;
    },
  };
}
