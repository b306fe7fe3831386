import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Inspector extends Disposable {
  /** https://chromedevtools.github.io/devtools-protocol/v8/ */
  ask(method: string, params?: object): Promise<unknown>;
}

/** The inspector may open its port a moment after the process has started. */
const longestWaitMs = 10_000;
const askAgainMs = 50;

/** Connects to the main thread of a Node process that was started with `--inspect=127.0.0.1:<port>`. */
export async function openInspector(port: number): Promise<Inspector> {
  const socket = new WebSocket(await inspectorUrl(port));
  await once(socket, 'open');
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id = 0, result, error } = JSON.parse(String(data)) as { id?: number; result?: unknown; error?: { message: string } };
    if (error === undefined) waiting.get(id)?.resolve(result);
    else waiting.get(id)?.reject(new Error(error.message));
    waiting.delete(id);
  });
  socket.addEventListener('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('The inspector closed the connection'));
  });
  return {
    ask(method, params = {}) {
      const answer = Promise.withResolvers<unknown>();
      waiting.set(++lastId, answer);
      socket.send(JSON.stringify({ id: lastId, method, params }));
      return answer.promise;
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

async function inspectorUrl(port: number): Promise<string> {
  for (const end = performance.now() + longestWaitMs; performance.now() < end; await sleep(askAgainMs)) {
    try {
      const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as { webSocketDebuggerUrl: string }[];
      if (targets[0] !== undefined) return targets[0].webSocketDebuggerUrl;
    } catch {
      // Not open yet.
    }
  }
  throw new Error(`No inspector answered on port ${port} within ${longestWaitMs} ms`);
}
