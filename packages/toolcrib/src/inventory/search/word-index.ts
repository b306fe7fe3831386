import type { Tool } from '../../model/tool.ts';
import { movedTo, packPosting, PostingList, slotOf } from './posting-list.ts';
import { toolWords } from './tool-words.ts';

/** From so many removed tools on, and where they are a third of all, their postings are cleared away. */
const fewestGone = 1000;

/** The tools that a search may find, by slot. */
export interface VisibleSlots {
  /** In the order of the tools. */
  readonly slots: Uint32Array;
  /** 1 at each of the slots. */
  readonly mask: Uint8Array;
}

/** Which tools have a word. A tool is added or removed at the cost of its own words. */
export class WordIndex {
  readonly #slots = new Map<Tool, number>();
  /** Most words of a large index stand in one tool only: those have no list. */
  #postings = new Map<string, number | PostingList>();
  #nextSlot = 0;
  #gone = 0;
  /** Remembered for each list of tools, until slots change. */
  #slotsOf = new WeakMap<readonly Tool[], Uint32Array>();
  /** Shared by all searches, since one has ended when the next begins. */
  #mask = new Uint8Array(0);

  get size(): number {
    return this.#slots.size;
  }

  get slots(): number {
    return this.#nextSlot;
  }

  add(tool: Tool): void {
    if (this.#slots.has(tool)) return;
    const slot = this.#nextSlot++;
    this.#slots.set(tool, slot);
    for (const [word, weight] of toolWords(tool)) {
      const posting = packPosting(slot, weight);
      const known = this.#postings.get(word);
      if (known === undefined) this.#postings.set(word, posting);
      else if (typeof known === 'number') {
        const list = new PostingList();
        list.push(known);
        list.push(posting);
        this.#postings.set(word, list);
      } else known.push(posting);
    }
  }

  /** Its postings stay until there are many of them: no list of visible tools has its slot. */
  delete(tool: Tool): void {
    if (!this.#slots.delete(tool)) return;
    this.#gone++;
    if (this.#gone >= fewestGone && this.#gone * 2 > this.#slots.size) this.#compact();
  }

  words(): Iterable<string> {
    return this.#postings.keys();
  }

  /** Runs a search among these tools. Those that were not added yet are added. */
  among<Result>(tools: readonly Tool[], search: (visible: VisibleSlots) => Result): Result {
    let slots = this.#slotsOf.get(tools);
    if (slots === undefined) {
      for (const tool of tools) this.add(tool);
      slots = Uint32Array.from(tools, (tool) => this.#slots.get(tool) ?? 0);
      this.#slotsOf.set(tools, slots);
    }
    if (this.#mask.length < this.#nextSlot) this.#mask = new Uint8Array(Math.ceil(this.#nextSlot * 1.5));
    const mask = this.#mask;
    for (const slot of slots) mask[slot] = 1;
    try {
      return search({ slots, mask });
    } finally {
      for (const slot of slots) mask[slot] = 0;
    }
  }

  /** The postings of the visible tools that have the word. A caller who may use ten tools out of thousands does not wait for the others. */
  postings(word: string, { slots, mask }: VisibleSlots): number[] {
    const list = this.#postings.get(word);
    if (list === undefined) return [];
    const found: number[] = [];
    if (typeof list === 'number') {
      if (mask[slotOf(list)] === 1) found.push(list);
    } else if (list.length <= slots.length * 16) {
      for (let index = 0; index < list.length; index++) {
        const posting = list.at(index);
        if (mask[slotOf(posting)] === 1) found.push(posting);
      }
    } else {
      for (const slot of slots) {
        const posting = list.of(slot);
        if (posting !== undefined) found.push(posting);
      }
    }
    return found;
  }

  #compact(): void {
    const renamed = new Map([...this.#slots.values()].map((slot, index) => [slot, index]));
    const postings = new Map<string, number | PostingList>();
    for (const [word, list] of this.#postings) {
      const kept = typeof list === 'number' ? [list] : Array.from({ length: list.length }, (_, index) => list.at(index));
      const moved = kept.flatMap((posting) => {
        const slot = renamed.get(slotOf(posting));
        return slot === undefined ? [] : [movedTo(slot, posting)];
      });
      const [only] = moved;
      if (only === undefined) continue;
      const shorter = new PostingList();
      for (const posting of moved) shorter.push(posting);
      postings.set(word, moved.length === 1 ? only : shorter);
    }
    for (const [index, tool] of [...this.#slots.keys()].entries()) this.#slots.set(tool, index);
    this.#postings = postings;
    this.#nextSlot = this.#slots.size;
    this.#gone = 0;
    this.#slotsOf = new WeakMap();
  }
}
