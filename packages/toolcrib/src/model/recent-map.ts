/**
 * A map of bounded size that forgets what was not used lately. It keeps two generations and drops the older one when the newer is
 * full: a hit costs one look-up and moves nothing, which a strict order of use could not offer. By default every value weighs 1, so the
 * bound is a number of entries; `weightOf` makes it one of bytes. A value's weight may change only while it is not in the map.
 */
export class RecentMap<Value> {
  readonly #generationWeight: number;
  readonly #weightOf: (value: Value, key: string) => number;
  readonly #onForgotten: ((value: Value) => void) | undefined;
  #young = new Map<string, Value>();
  #youngWeight = 0;
  #old = new Map<string, Value>();

  constructor(maxWeight: number, weightOf: (value: Value, key: string) => number = () => 1, onForgotten?: (value: Value) => void) {
    this.#generationWeight = Math.max(1, Math.floor(maxWeight / 2));
    this.#weightOf = weightOf;
    this.#onForgotten = onForgotten;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: string): Value | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const aged = this.#old.get(key);
    if (aged !== undefined) this.set(key, aged);
    return aged;
  }

  set(key: string, value: Value): void {
    this.delete(key);
    const weight = this.#weightOf(value, key);
    if (this.#young.size > 0 && this.#youngWeight + weight > this.#generationWeight) {
      const forgotten = this.#old;
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngWeight = 0;
      if (this.#onForgotten !== undefined) for (const value of forgotten.values()) this.#onForgotten(value);
    }
    this.#young.set(key, value);
    this.#youngWeight += weight;
  }

  *keys(): Generator<string> {
    yield* this.#young.keys();
    yield* this.#old.keys();
  }

  clear(): void {
    this.#young.clear();
    this.#youngWeight = 0;
    this.#old.clear();
  }

  delete(key: string): void {
    const value = this.#young.get(key);
    if (value === undefined) {
      this.#old.delete(key);
      return;
    }
    this.#young.delete(key);
    this.#youngWeight -= this.#weightOf(value, key);
  }
}
