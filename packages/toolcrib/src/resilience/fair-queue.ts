export interface FairQueue<T> {
  readonly size: number;
  /** False if the queue, or this caller's part of it, is full. */
  push(caller: string, item: T): boolean;
  /** Takes the next item of a caller for whom `may` is true. */
  take(may?: (caller: string) => boolean): T | undefined;
  remove(caller: string, item: T): void;
  /** The waiting items, in the order in which they would be taken. */
  inOrder(): T[];
}

/** A queue in which callers take turns, so that a caller with one item does not wait for all items of another. */
export function createFairQueue<T>({ most, mostPerCaller }: { most: number; mostPerCaller: number }): FairQueue<T> {
  const waiting = new Map<string, T[]>();
  let size = 0;

  return {
    get size() {
      return size;
    },

    push(caller, item) {
      const own = waiting.get(caller);
      if (size >= most || (own && own.length >= mostPerCaller)) return false;
      if (own) own.push(item);
      else waiting.set(caller, [item]);
      size++;
      return true;
    },

    take(may) {
      for (const [caller, own] of waiting) {
        if (may?.(caller) === false) continue;
        const item = own.shift();
        // A map keeps the order of insertion: putting the caller back makes it the last in turn.
        waiting.delete(caller);
        if (own.length > 0) waiting.set(caller, own);
        size--;
        return item;
      }
      return undefined;
    },

    remove(caller, item) {
      const own = waiting.get(caller);
      const at = own?.indexOf(item) ?? -1;
      if (!own || at === -1) return;
      own.splice(at, 1);
      if (own.length === 0) waiting.delete(caller);
      size--;
    },

    inOrder() {
      const rounds = Math.max(0, ...Array.from(waiting.values(), (own) => own.length));
      return Array.from({ length: rounds }, (_, round) => Array.from(waiting.values(), (own) => own.slice(round, round + 1)).flat()).flat();
    },
  };
}
