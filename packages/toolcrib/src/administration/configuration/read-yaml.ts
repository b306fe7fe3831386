import { isMap, isScalar, isSeq, LineCounter, parseDocument, visit, type Document, type YAMLMap } from 'yaml';

type Path = readonly (string | number)[];

export interface YamlText {
  value: unknown;
  /** The position of a path in the text, as `line:column`. */
  placeOf(path: Path): string;
}

/** Each alias is looked up in the whole document. */
const mostAliases = 500;
/** How often one alias may be expanded, including the aliases inside it. */
const mostWrittenOut = 100;
/** Deeper than any honest file needs. Maps count twice. */
const mostNested = 128;
/** A hundred lists and maps opened one inside another. */
const openedAtOnce = /(?:[[{]\s*|[-?]\s+){100}/;

/** Parses untrusted YAML; calls `refuse`, which throws, with the first problem. */
export function readYaml(text: string, refuse: (place: string, message: string) => never): YamlText {
  // The parser would take seconds on such a text.
  if (openedAtOnce.test(text)) refuse('1:1', 'the file is nested too deeply');
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

/** Checked here because the parser compares every key with every other: ten thousand keys would take it minutes. */
function refuseStrangeKeys({ items }: YAMLMap, refuse: (offset: number | undefined, message: string) => never): void {
  const names = new Set<unknown>();
  for (const { key } of items) {
    const { value, range } = isScalar(key) ? key : {};
    // Prevents prototype pollution by code that copies the object.
    if (value === '__proto__') refuse(range?.[0], '__proto__ cannot be the name of a field');
    if (names.has(value)) refuse(range?.[0], `the field ${String(value)} is repeated`);
    names.add(value);
  }
}

/** The offset of the key if it exists, else that of the innermost node around it. */
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
