/**
 * Loaded into a suite before it begins. It gives some servers half a second to answer, which is plenty on a quiet machine and too little on a
 * busy one: its short timers last longer here. What it checks stays the same.
 */
const { setTimeout } = globalThis;
const patience = 4;
const shortMs = 2000;

globalThis.setTimeout = Object.assign(
  (callback: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]) =>
    setTimeout(callback, delayMs < shortMs ? delayMs * patience : delayMs, ...args),
  setTimeout,
);
