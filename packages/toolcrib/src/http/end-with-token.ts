import type { Principal } from '../model/principal.ts';
import type { EventStream } from './event-stream.ts';

/** The longest a timer can wait; a token that lives longer is looked at again then. */
const maxTimerMs = 2 ** 31 - 1;

/** A stream goes on for no longer than the token it was opened with, nor than the server. */
export function endWithToken(stream: EventStream, { expiresAt }: Pick<Principal, 'expiresAt'>, closing: AbortSignal): void {
  const close = () => stream.close();
  const wait = (): NodeJS.Timeout => {
    const left = expiresAt - Date.now();
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
