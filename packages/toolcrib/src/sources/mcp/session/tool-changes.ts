import type { Client } from '@modelcontextprotocol/client';

/** The stateless revision tells of changes only on a stream that was asked for. */
interface Subscription {
  stop(): void;
}

/**
 * Keeps such a stream open: when it ends it is asked for again, ever less often, and what may have been missed meanwhile counts as a
 * change.
 */
export function subscribeToChanges(client: Client, onChanged: () => void, retryMs = 1000): Subscription {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  const offered = client.getServerCapabilities();
  const filter = {
    ...(offered?.tools?.listChanged === true && { toolsListChanged: true }),
    ...(offered?.resources?.listChanged === true && { resourcesListChanged: true }),
  };

  async function listen(): Promise<void> {
    try {
      const subscription = await client.listen(filter, { timeout: 30_000 });
      if (stopped) return void subscription.close();
      if (failures > 0) onChanged();
      failures = 0;
      await subscription.closed;
    } catch {
      // Without the stream there are no such messages; the inventory is refreshed on its schedule all the same.
    }
    if (stopped) return;
    failures++;
    timer = setTimeout(() => void listen(), Math.min(retryMs * 2 ** (failures - 1), 60_000));
    timer.unref();
  }

  if (Object.keys(filter).length > 0) void listen();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
