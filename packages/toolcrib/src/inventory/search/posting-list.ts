/** Weights are kept as steps of their logarithm: a factor of 1.0005 from one to the next, from 2^-31 to 2^16. */
const stepsPerOctave = 1365;
const lowestOctave = -31;
const steps = 65_536;
let weights: Float64Array | undefined;

/** Where a tool stands, and how much a word counts there, in one number: millions of them are kept. */
export function packPosting(slot: number, weight: number): number {
  const step = Math.round((Math.log2(weight) - lowestOctave) * stepsPerOctave);
  return slot * steps + Math.min(steps - 1, Math.max(0, step));
}

export function slotOf(posting: number): number {
  return Math.floor(posting / steps);
}

/** The same weight at another slot. */
export function movedTo(slot: number, posting: number): number {
  return slot * steps + (posting % steps);
}

export function weightOf(posting: number): number {
  weights ??= Float64Array.from({ length: steps }, (_, step) => 2 ** (step / stepsPerOctave + lowestOctave));
  return weights[posting % steps] ?? 0;
}

/** The tools that have a word, by slot. */
export class PostingList {
  #slots = new Uint32Array(8);
  #steps = new Uint16Array(8);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Slots only grow, so the list stays in order. */
  push(posting: number): void {
    if (this.#length === this.#slots.length) this.#resize(Math.ceil(this.#length * 1.5));
    this.#slots[this.#length] = slotOf(posting);
    this.#steps[this.#length] = posting % steps;
    this.#length++;
  }

  at(index: number): number {
    return (this.#slots[index] ?? 0) * steps + (this.#steps[index] ?? 0);
  }

  /** The posting of a slot, or undefined. */
  of(slot: number): number | undefined {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#slots[middle] ?? 0) < slot) low = middle + 1;
      else high = middle;
    }
    return low < this.#length && this.#slots[low] === slot ? this.at(low) : undefined;
  }

  #resize(length: number): void {
    const [slots, steps] = [this.#slots, this.#steps];
    this.#slots = new Uint32Array(length);
    this.#slots.set(slots);
    this.#steps = new Uint16Array(length);
    this.#steps.set(steps);
  }
}
