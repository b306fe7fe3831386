/** Something that ends at a moment on the clock of `performance`. The moment may be moved as often as needed. */
export interface Deadline {
  endsAt: number;
  /** Where it stands in the list; -1 while it is not there. */
  deadlinePlace: number;
  expire(): void;
}

/**
 * One timer for all deadlines: a timer for each call would cost more than looking at all of them whenever the earliest has passed. Deadlines
 * are moved without telling anybody, unless they come closer.
 */
class Deadlines {
  readonly #waiting: Deadline[] = [];
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;

  add(deadline: Deadline): void {
    deadline.deadlinePlace = this.#waiting.push(deadline) - 1;
    this.closer(deadline);
  }

  /** Call it when a deadline may have come closer. */
  closer({ endsAt }: Deadline): void {
    if (endsAt >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = endsAt;
    // What it waits for keeps the process alive; the deadline alone does not.
    this.#timer = setTimeout(() => this.#sweep(), Math.max(1, Math.ceil(endsAt - performance.now()))).unref();
  }

  remove(deadline: Deadline): void {
    const place = deadline.deadlinePlace;
    if (place < 0) return;
    deadline.deadlinePlace = -1;
    const last = this.#waiting.pop();
    if (last === undefined || last === deadline) return;
    last.deadlinePlace = place;
    this.#waiting[place] = last;
  }

  #sweep(): void {
    this.#timerAt = Infinity;
    const now = performance.now();
    const expired = this.#waiting.filter(({ endsAt }) => endsAt <= now);
    for (const deadline of expired) deadline.expire();
    let earliest: Deadline | undefined;
    for (const deadline of this.#waiting) if (earliest === undefined || deadline.endsAt < earliest.endsAt) earliest = deadline;
    if (earliest !== undefined) this.closer(earliest);
  }
}

export const deadlines = new Deadlines();
