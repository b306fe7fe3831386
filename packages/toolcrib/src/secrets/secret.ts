import { inspect } from 'node:util';

/** Shown in place of a secret value. [ENV-4] An update that sends it back keeps the stored value. */
export const hiddenValue = '***';

/** A value that cannot slip out by being printed, logged, joined to a text or turned into JSON: code that needs it has to ask for it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return hiddenValue;
  }

  toJSON(): string {
    return hiddenValue;
  }

  [inspect.custom](): string {
    return hiddenValue;
  }
}
