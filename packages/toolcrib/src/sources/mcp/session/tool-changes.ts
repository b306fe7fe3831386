import type { Client } from '@modelcontextprotocol/client';

/** The stateless revision reports changes only on a stream that the client opens. */
interface Subscription {
  stop(): void;
}

/**
 * Keeps such a stream open: when it ends it is opened again, with growing pauses, and a change may have been missed meanwhile, so that counts
 * as one.
 */
export function subscribeToChanges(client: Client, onChanged: () => void, retryMs = 1000): Subscription {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  const offered = client.getServerCapabilities();
  const filter = {
    ...(offered?.tools?.listChanged === true && { toolsListChanged: true }),
    ...(offered?.resources?.listChanged === true && { resourcesListChanged: true }),
    ...(offered?.prompts?.listChanged === true && { promptsListChanged: true }),
  };

  async function listen(): Promise<void> {
    try {
      const subscription = await client.listen(filter, { timeout: 30_000 });
      if (stopped) return void subscription.close();
      if (failures > 0) onChanged();
      failures = 0;
      await subscription.closed;
    } catch {
      // Without the stream no changes are reported; the inventory is still refreshed on schedule.
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
