/**
 * Starting a process blocks the event loop for a few milliseconds, because the system call returns only when the program has been loaded. So
 * there is one start per turn of the event loop: however many servers are started at once, calls and running servers get their turns [LIFE-8].
 */
const first: (() => void)[] = [];
const later: (() => void)[] = [];
let scheduled = false;

/** Resolves when it may start its process. Those that are not `later` go first. */
export function spawnTurn(options: { later: boolean }): Promise<void> {
  return new Promise((resolve) => {
    (options.later ? later : first).push(resolve);
    schedule();
  });
}

function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  setImmediate(() => {
    scheduled = false;
    (first.shift() ?? later.shift())?.();
    if (first.length + later.length > 0) schedule();
  });
}
