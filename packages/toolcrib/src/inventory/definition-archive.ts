import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { RecentMap } from '../model/recent-map.ts';
import type { DiscoveredTool } from '../model/tool.ts';
import { readDiscovered } from '../store/tools.ts';

/** A block is opened as a whole, so it is small: opening one takes less than a tenth of a millisecond. */
const charactersInBlock = 50_000;
/** Bounds the definitions that are kept as objects, which take about three times their text. */
const mostBytes = 24_000_000;
const bytesPerCharacter = 3;
/** Those who read one after the other find the next in an open block. */
const mostOpen = 4;

/** What a source says of a tool, wherever that is kept. */
export interface KeptDefinition {
  /** How long its text is. */
  readonly length: number;
  /** The id is for the message if it cannot be read. */
  read(toolId: string): DiscoveredTool;
}

interface Holder {
  readonly tool_id: string;
  /** Drops the object: it can be read again. */
  forget(): void;
}

/**
 * Keeps what sources say of their tools, most of which nobody asks for: as compressed text, and as objects only those that were used
 * lately. A hundred thousand definitions as objects take a quarter of a gigabyte, and like this a tenth of that.
 */
export class DefinitionArchive {
  readonly #open = new RecentMap<readonly string[]>(mostOpen);
  readonly #holders = new RecentMap<{ holder: Holder; bytes: number }>(
    mostBytes,
    ({ bytes }) => bytes,
    ({ holder }) => holder.forget(),
  );
  #blocks = 0;

  /** Notes that somebody holds the object of a text this long. */
  held(holder: Holder, length: number): void {
    this.#holders.set(holder.tool_id, { holder, bytes: length * bytesPerCharacter });
  }

  /** Takes JSON texts. */
  keep(texts: readonly string[]): KeptDefinition[] {
    const kept: KeptDefinition[] = [];
    for (let start = 0, end = 0; start < texts.length; start = end) {
      let characters = 0;
      while (end < texts.length && characters < charactersInBlock) characters += texts[end++]?.length ?? 0;
      const block = new Block(String(this.#blocks++), texts.slice(start, end), this.#open);
      for (let index = start; index < end; index++) kept.push(new InBlock(block, index - start, texts[index]?.length ?? 0));
    }
    return kept;
  }
}

class Block {
  readonly #key: string;
  readonly #compressed: Uint8Array;
  readonly #open: RecentMap<readonly string[]>;

  constructor(key: string, texts: readonly string[], open: RecentMap<readonly string[]>) {
    this.#key = key;
    // JSON has no line break within its strings, and what is stored has none between them.
    this.#compressed = zstdCompressSync(texts.join('\n'));
    this.#open = open;
  }

  textAt(index: number): string {
    let texts = this.#open.get(this.#key);
    if (texts === undefined) {
      texts = zstdDecompressSync(this.#compressed).toString('utf8').split('\n');
      this.#open.set(this.#key, texts);
    }
    return texts[index] ?? '';
  }
}

class InBlock implements KeptDefinition {
  readonly length: number;
  readonly #block: Block;
  readonly #index: number;

  constructor(block: Block, index: number, length: number) {
    this.#block = block;
    this.#index = index;
    this.length = length;
  }

  read(toolId: string): DiscoveredTool {
    return readDiscovered(toolId, this.#block.textAt(this.#index));
  }
}
