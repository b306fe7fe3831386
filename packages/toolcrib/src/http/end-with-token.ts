import type { Principal } from '../model/principal.ts';
import type { EventStream } from './event-stream.ts';

/** The longest delay of a timer; for a token that lives longer, another timer follows. */
const maxTimerMs = 2 ** 31 - 1;

/** Closes a stream when its token expires or the server stops. */
export function endWithToken(stream: EventStream, { expiresAt }: Pick<Principal, 'expiresAt'>, closing: AbortSignal): void {
  const close = () => stream.close();
  const wait = (): NodeJS.Timeout => {
    // Negative where a token that has just expired was tolerated.
    const left = Math.max(0, expiresAt - Date.now());
    return setTimeout(() => (left > maxTimerMs ? (expiry = wait()) : close()), Math.min(left, maxTimerMs));
  };
  let expiry = wait();
  closing.addEventListener('abort', close);
  stream.onClose(() => {
    clearTimeout(expiry);
    closing.removeEventListener('abort', close);
  });
  if (closing.aborted) close();
}
