import { LineCounter, isMap, isScalar, parseDocument as parseYaml, visit } from 'yaml';
import { CribError } from '../../model/crib-error.ts';
import type { Json } from '../../model/json.ts';
import { boundsOf } from './document-bounds.ts';

const mostText = 32 * 1024 * 1024;
const deepest = 200;
/** The limit with all aliases expanded. Parsing does not copy aliases, but later work on the document does. */
const mostNodes = 10_000_000;
const mostAliases = 10_000;

export interface ParsedText {
  value: Json;
  warnings: string[];
}

/** [OAS-1] Parses JSON, or else YAML, whose parser also reads JSON but is slower. Throws `VALIDATION_ERROR` with the position. */
export function parseDocument(text: string): ParsedText {
  if (text.length > mostText) {
    throw new CribError('PAYLOAD_TOO_LARGE', `The document is larger than ${mostText / 1024 / 1024} MiB`);
  }
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (/^\s*</.test(plain)) throw new CribError('VALIDATION_ERROR', 'This is an HTML or XML page: give the address of the document itself');
  const json = /^\s*[{[]/.test(plain) ? parseJson(plain) : undefined;
  const parsed = json ?? parseYamlText(plain);
  // Only YAML has aliases.
  const { depth, nodes } = boundsOf(parsed.value, deepest, json === undefined);
  if (depth > deepest) throw tooDeep();
  if (nodes > mostNodes) throw new CribError('VALIDATION_ERROR', `The document has more than ${mostNodes} values; split it`);
  return parsed;
}

/** Undefined if the text is not JSON: a YAML flow mapping begins the same way. */
function parseJson(text: string): ParsedText | undefined {
  try {
    return { value: JSON.parse(text) as Json, warnings: [] };
  } catch {
    return undefined;
  }
}

function parseYamlText(text: string): ParsedText {
  const lines = new LineCounter();
  const warnings: string[] = [];
  try {
    // Duplicate keys are found below: the library would compare every key with every other.
    const document = parseYaml(text, { merge: true, uniqueKeys: false, lineCounter: lines, prettyErrors: false, logLevel: 'silent' });
    const [first] = document.errors;
    if (first?.code === 'RESOURCE_EXHAUSTION') throw tooDeep();
    if (first !== undefined) throw notReadable(first.message, lines.linePos(first.pos[0]));
    visit(document, {
      Map(_, node) {
        const seen = new Set<unknown>();
        for (const { key } of isMap(node) ? node.items : []) {
          const name = isScalar(key) ? key.value : undefined;
          if (name === undefined || name === '<<') continue;
          if (seen.has(name) && warnings.length < 20) {
            const at = isScalar(key) && key.range ? ` in line ${lines.linePos(key.range[0]).line}` : '';
            warnings.push(`The key ${JSON.stringify(name).slice(0, 200)} is repeated${at}; the last one counts`);
          }
          seen.add(name);
        }
      },
    });
    return { value: document.toJS({ maxAliasCount: mostAliases }) as Json, warnings };
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep();
    if (error instanceof ReferenceError) {
      throw new CribError('VALIDATION_ERROR', `The aliases of the document cannot be resolved: ${error.message.slice(0, 300)}`);
    }
    throw error;
  }
}

function notReadable(message: string, { line, col }: { line: number; col: number }): CribError {
  return new CribError('VALIDATION_ERROR', `The document is neither JSON nor YAML: line ${line}, column ${col}: ${message.slice(0, 500)}`);
}

function tooDeep(): CribError {
  return new CribError('VALIDATION_ERROR', `The document is nested deeper than ${deepest} levels`);
}
