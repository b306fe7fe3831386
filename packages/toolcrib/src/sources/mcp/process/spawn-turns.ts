/**
 * Starting a process stops everything else here for a few milliseconds, because the system call only comes back when the program has been
 * loaded. So there is one start per turn of the event loop: however many servers are started at once, the calls and the servers that have
 * begun already get on in between [LIFE-8].
 */
const first: (() => void)[] = [];
const later: (() => void)[] = [];
let scheduled = false;

/** Resolves when it may start its process. What is not `later` comes first. */
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
