const firstSize = 64;

/**
 * What waits for an answer, found by the number it was given. A `Map` that is filled and emptied without end would keep, until the next
 * full collection of garbage, the chain of tables it has outgrown and all that was in them, so that every call would be copied into
 * the old generation. Here nothing is left of an entry that was taken.
 */
export class InFlight<Value> {
  #ids: number[] = Array.from({ length: firstSize }, () => 0);
  #values: (Value | undefined)[] = Array.from({ length: firstSize }, () => undefined);
  #count = 0;
  #lastId: number;

  constructor(lastId: number) {
    this.#lastId = lastId;
  }

  /** Gives it a number that is larger than all before. */
  add(value: Value): number {
    if (this.#count * 2 >= this.#values.length) this.#grow();
    // A place that is taken, by what takes long, is passed over together with its number.
    do this.#lastId++;
    while (this.#values[this.#placeOf(this.#lastId)] !== undefined);
    this.#put(this.#lastId, value);
    this.#count++;
    return this.#lastId;
  }

  get(id: unknown): Value | undefined {
    if (typeof id !== 'number') return undefined;
    const place = this.#placeOf(id);
    return this.#ids[place] === id ? this.#values[place] : undefined;
  }

  /** Takes it out; undefined where it is gone already. */
  take(id: unknown): Value | undefined {
    const value = this.get(id);
    if (value !== undefined) {
      this.#values[this.#placeOf(id as number)] = undefined;
      this.#count--;
    }
    return value;
  }

  values(): Value[] {
    return this.#values.filter((value) => value !== undefined);
  }

  takeAll(): Value[] {
    const all = this.values();
    this.#values.fill(undefined);
    this.#count = 0;
    return all;
  }

  #placeOf(id: number): number {
    // The number of places is a power of two.
    return id & (this.#values.length - 1);
  }

  #put(id: number, value: Value): void {
    const place = this.#placeOf(id);
    this.#ids[place] = id;
    this.#values[place] = value;
  }

  /** Two numbers with places of their own have them among twice as many too. */
  #grow(): void {
    const [ids, values] = [this.#ids, this.#values];
    this.#ids = Array.from({ length: ids.length * 2 }, () => 0);
    this.#values = Array.from({ length: values.length * 2 }, () => undefined);
    for (const [place, value] of values.entries()) if (value !== undefined) this.#put(ids[place] ?? 0, value);
  }
}
