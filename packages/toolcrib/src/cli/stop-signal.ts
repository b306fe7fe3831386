import { constants } from 'node:os';

/**
 * One Ctrl-C often arrives more than once: the terminal gives it to every program in the foreground, and npm and our own launcher pass on
 * what they get; so does a service manager that signals the whole group. What comes within this time is the same wish.
 */
const sameWishMs = 500;

/** Resolves when the server should stop. A second request ends the process at once. */
export function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let askedAt: number | undefined;
  const ask = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (askedAt === undefined) {
      askedAt = now;
      resolve();
    } else if (now - askedAt > sameWishMs) process.exit(128 + constants.signals[signal]);
  };
  process.on('SIGINT', ask);
  process.on('SIGTERM', ask);
  return promise;
}
