import type { JsonSchema } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';

/** Parameters deeper than this say little about what a tool is for. */
const maxSchemaDepth = 4;

/** The words of a text as search compares them: one form of each character, camelCase and snake_case taken apart, plurals folded. */
export function wordsOf(text: string): string[] {
  const parted = text
    .normalize('NFKC')
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .toLowerCase();
  return (parted.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).map((word) => (word.length > 3 && word.endsWith('s') ? word.slice(0, -1) : word));
}

/** How often each word stands in a tool, with names counting for more than prose. */
export function wordWeights(tool: Tool): Map<string, number> {
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
