import { isMap, isScalar, isSeq, LineCounter, parseDocument, visit, type Document, type YAMLMap } from 'yaml';

type Path = readonly (string | number)[];

export interface YamlText {
  value: unknown;
  /** Where something is, as `line:column`, by its path. */
  placeOf(path: Path): string;
}

/** Each is looked up in the whole document. */
const mostAliases = 500;
/** How often one may be written out, with those in it. */
const mostWrittenOut = 100;
/** Deeper than any honest file. Maps count twice. */
const mostNested = 128;
/** A hundred lists and maps that begin one in another. */
const openedAtOnce = /(?:[[{]\s*|[-?]\s+){100}/;

/** Reads YAML that may have been written by anybody; `refuse` is told what is wrong with it, and throws. */
export function readYaml(text: string, refuse: (place: string, message: string) => never): YamlText {
  // The parser would take seconds to find that out.
  if (openedAtOnce.test(text)) refuse('1:1', 'this is nested too deeply');
  const lines = new LineCounter();
  const placeAt = (offset: number | undefined) => {
    const { line, col } = lines.linePos(offset ?? 0);
    return `${line}:${col}`;
  };
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true, uniqueKeys: false, merge: false });
  const [wrong] = [...document.errors, ...document.warnings];
  if (wrong !== undefined) refuse(placeAt(wrong.pos[0]), firstLine(wrong.message));
  let aliases = 0;
  visit(document, {
    Collection: (_key, node, path) => {
      if (path.length > mostNested) refuse(placeAt(node.range?.[0]), 'this is nested too deeply');
      if (isMap(node)) refuseStrangeKeys(node, (offset, message) => refuse(placeAt(offset), message));
    },
    Alias: (_key, { range }) => {
      if (++aliases > mostAliases) refuse(placeAt(range?.[0]), `there are more than ${mostAliases} aliases`);
    },
  });
  return { value: valueOf(document), placeOf: (path) => placeAt(offsetOf(document, path)) };

  function valueOf(read: Document.Parsed): unknown {
    try {
      return read.toJS({ maxAliasCount: mostWrittenOut });
    } catch (error) {
      return refuse('1:1', firstLine((error as Error).message));
    }
  }
}

/** Here and not by the parser, which compares every key with every other: ten thousand of them would take it minutes. */
function refuseStrangeKeys({ items }: YAMLMap, refuse: (offset: number | undefined, message: string) => never): void {
  const names = new Set<unknown>();
  for (const { key } of items) {
    const { value, range } = isScalar(key) ? key : {};
    // Copied by careless code further on it would change what every object inherits.
    if (value === '__proto__') refuse(range?.[0], '__proto__ cannot be the name of a field');
    if (names.has(value)) refuse(range?.[0], `${String(value)} is here a second time`);
    names.add(value);
  }
}

/** Of the key where there is one, of the innermost thing around it otherwise. */
function offsetOf(document: Document.Parsed, path: Path): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.value === String(step));
      if (pair === undefined) break;
      if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      const item = node.items[Number(step)] as { range?: [number, number, number] | null } | undefined;
      if (item === undefined) break;
      offset = item.range?.[0] ?? offset;
      node = item;
    } else break;
  }
  return offset;
}

function firstLine(message: string): string {
  return message.split('\n')[0] ?? message;
}
