/** Search as it was before queries were expanded and typos corrected: what every figure is held against. Not to be improved. */
import type { JsonSchema } from '../../../packages/toolcrib/src/model/json.ts';
import type { Tool } from '../../../packages/toolcrib/src/model/tool.ts';

/** Parameters deeper than this say little about what a tool is for. */
const maxSchemaDepth = 4;

/** The words of a text as search compares them: one form of each character, camelCase and snake_case taken apart, plurals folded. */
function wordsOf(text: string): string[] {
  const parted = text
    .normalize('NFKC')
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .toLowerCase();
  return (parted.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).map((word) => (word.length > 3 && word.endsWith('s') ? word.slice(0, -1) : word));
}

/** How often each word stands in a tool, with names counting for more than prose. */
function wordWeights(tool: Tool): Map<string, number> {
  const weights = new Map<string, number>();
  const add = (text: string, weight: number) => {
    for (const word of wordsOf(text)) weights.set(word, (weights.get(word) ?? 0) + weight);
  };
  add(tool.name.slice(tool.namespace.length + 1), 3);
  add(tool.title ?? '', 2);
  add(tool.namespace, 1);
  add(tool.description, 1);
  for (const tag of tool.tags) add(tag, 1);
  addParameters(tool.definition.input_schema, 0);
  return weights;

  function addParameters(schema: JsonSchema, depth: number): void {
    const { properties } = schema;
    if (depth >= maxSchemaDepth || properties === null || typeof properties !== 'object' || Array.isArray(properties)) return;
    for (const [name, property] of Object.entries(properties)) {
      add(name, 1);
      if (property === null || typeof property !== 'object' || Array.isArray(property)) continue;
      if (typeof property['description'] === 'string') add(property['description'], 0.5);
      addParameters(property, depth + 1);
    }
  }
}

/** The usual BM25 constants: how fast repetition stops helping, and how much long texts are held back. */
const saturation = 1.2;
const lengthPenalty = 0.75;

/** BM25 over names, descriptions and parameters, names counting for more. All tools are visible here. */
export function createEarlierSearch(tools: readonly Tool[]): (query: string) => Tool[] {
  const postings = new Map<string, Map<Tool, number>>();
  const lengths = new Map<Tool, number>();
  for (const tool of tools) {
    let length = 0;
    for (const [word, weight] of wordWeights(tool)) {
      length += weight;
      const ofWord = postings.get(word);
      if (ofWord === undefined) postings.set(word, new Map([[tool, weight]]));
      else ofWord.set(tool, weight);
    }
    lengths.set(tool, length);
  }
  return (query) => {
    const matches = [...new Set(wordsOf(query))].map((word) => Array.from(postings.get(word) ?? []));
    const found = new Set(matches.flatMap((list) => list.map(([tool]) => tool)));
    const meanLength = [...found].reduce((sum, tool) => sum + (lengths.get(tool) ?? 0), 0) / Math.max(found.size, 1);
    const scores = new Map<Tool, number>();
    for (const list of matches) {
      const rarity = Math.log(1 + (tools.length - list.length + 0.5) / (list.length + 0.5));
      for (const [tool, weight] of list) {
        const norm = 1 - lengthPenalty + (lengthPenalty * (lengths.get(tool) ?? 0)) / meanLength;
        const score = (rarity * weight * (saturation + 1)) / (weight + saturation * norm);
        scores.set(tool, (scores.get(tool) ?? 0) + score);
      }
    }
    return [...scores].sort(([a, scoreA], [b, scoreB]) => scoreB - scoreA || (a.name < b.name ? -1 : 1)).map(([tool]) => tool);
  };
}
