import { EventEmitter } from 'node:events';

export type Changeable = 'tools' | 'prompts';

/** The resource that clients may watch. */
export const watchedUri = 'test://watched-resource';

/**
 * What the fixture lists at the moment: of its tools and of its prompts, one comes and goes. All sessions of a process share it, so that a
 * change through one of them reaches the others.
 */
export class Catalogue extends EventEmitter<{ change: [Changeable]; update: [] }> {
  /** Addresses of resources, once for each session that has subscribed to them. */
  readonly subscribed: string[] = [];
  readonly #extra: Record<Changeable, boolean> = { tools: false, prompts: false };

  constructor() {
    super();
    // As many sessions as there are clients.
    this.setMaxListeners(0);
  }

  /** Whether the one that comes and goes is there. */
  hasExtra(kind: Changeable): boolean {
    return this.#extra[kind];
  }

  change(kind: Changeable): void {
    this.#extra[kind] = !this.#extra[kind];
    this.emit('change', kind);
  }

  /** Says that the watched resource has changed. */
  update(): void {
    this.emit('update');
  }
}
