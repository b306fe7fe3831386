import { isObject, type JsonSchema } from '../../model/json.ts';
import type { Tool } from '../../model/tool.ts';
import { wordsOf } from './words.ts';

/** Parameters deeper than this say little about what a tool is for. */
const maxSchemaDepth = 4;

interface Field {
  /** The weight of one word in a text of typical length. */
  worth: number;
  /** The typical number of words. */
  usual: number;
  /** How much longer texts are penalised: 0 not at all, 1 in proportion. */
  held: number;
}

/** Tuned on the requests of `bench/search` that are not held out. Lengths are fixed, so that they do not depend on the other tools. */
const fields = {
  name: { worth: 3, usual: 4, held: 0.8 },
  title: { worth: 3, usual: 6, held: 0.6 },
  kind: { worth: 1, usual: 3, held: 0 },
  description: { worth: 0.5, usual: 40, held: 0.6 },
  parameters: { worth: 0.25, usual: 8, held: 0.5 },
  parameterTexts: { worth: 0.15, usual: 60, held: 0.5 },
} as const satisfies Record<string, Field>;

/** How much each word of a tool counts: names more than prose, and a word of a short text more than one of a long text. */
export function toolWords(tool: Tool): Map<string, number> {
  const weights = new Map<string, number>();
  const add = (words: readonly string[], { worth, usual, held }: Field) => {
    const weight = worth / (1 - held + (held * words.length) / usual);
    for (const word of words) weights.set(word, (weights.get(word) ?? 0) + weight);
  };
  const { names, texts } = parametersOf(tool.definition.input_schema);
  add(wordsOf(ownName(tool)), fields.name);
  add(wordsOf(headline(tool)), fields.title);
  add([tool.namespace, ...tool.tags].flatMap(wordsOf), fields.kind);
  add(wordsOf(tool.description), fields.description);
  add(names.flatMap(wordsOf), fields.parameters);
  add(texts.flatMap(wordsOf), fields.parameterTexts);
  return weights;
}

export function ownName({ name, namespace }: Tool): string {
  return name.slice(namespace.length + 1);
}

/** The title, or the first sentence where there is none. */
export function headline({ title, description }: Tool): string {
  return title ?? description.slice(0, 200).split(/(?<=[.!?])\s/, 1)[0] ?? '';
}

function parametersOf(root: JsonSchema): { names: string[]; texts: string[] } {
  const names: string[] = [];
  const texts: string[] = [];
  visit(root, 0);
  return { names, texts };

  function visit({ properties }: JsonSchema, depth: number): void {
    if (depth >= maxSchemaDepth || !isObject(properties)) return;
    for (const [name, property] of Object.entries(properties)) {
      names.push(name);
      if (!isObject(property)) continue;
      if (typeof property['description'] === 'string') texts.push(property['description']);
      visit(property, depth + 1);
    }
  }
}
