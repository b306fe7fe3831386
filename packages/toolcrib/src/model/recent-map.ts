/**
 * A map of bounded size that forgets what was not used lately. It keeps two generations and drops the older one when the newer is
 * full: a hit costs one look-up and moves nothing, which a strict order of use could not offer.
 */
export class RecentMap<Value> {
  readonly #generationSize: number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  constructor(maxSize: number) {
    this.#generationSize = Math.max(1, Math.floor(maxSize / 2));
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
    this.#old.delete(key);
    if (this.#young.size >= this.#generationSize && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  *keys(): Generator<string> {
    yield* this.#young.keys();
    yield* this.#old.keys();
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }
}
