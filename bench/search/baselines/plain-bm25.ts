import type { Tool } from '../../../packages/toolcrib/src/model/tool.ts';

/** BM25 as a textbook has it: one text per tool, split at anything that is no letter or digit, no fields, no stemming. */
export function createPlainBm25(tools: readonly Tool[]): (query: string) => Tool[] {
  const documents = tools.map((tool) => words(`${tool.name} ${tool.title ?? ''} ${tool.description}`));
  const meanLength = documents.reduce((sum, document) => sum + document.length, 0) / Math.max(documents.length, 1);
  const counts = documents.map((document) => {
    const count = new Map<string, number>();
    for (const word of document) count.set(word, (count.get(word) ?? 0) + 1);
    return count;
  });
  return (query) => {
    const scores = tools.map(() => 0);
    for (const word of new Set(words(query))) {
      const having = counts.filter((count) => count.has(word)).length;
      const rarity = Math.log(1 + (tools.length - having + 0.5) / (having + 0.5));
      for (const [index, count] of counts.entries()) {
        const times = count.get(word) ?? 0;
        const norm = 0.25 + (0.75 * (documents[index]?.length ?? 0)) / meanLength;
        scores[index] = (scores[index] ?? 0) + (rarity * times * 2.2) / (times + 1.2 * norm);
      }
    }
    return best(tools, scores);
  };
}

/** How many of the words stand in the tool's text as they are. */
export function createSubstring(tools: readonly Tool[]): (query: string) => Tool[] {
  const texts = tools.map((tool) => `${tool.name} ${tool.title ?? ''} ${tool.description}`.toLowerCase());
  return (query) => {
    const wanted = [...new Set(words(query))];
    const scores = texts.map((text) => wanted.filter((word) => text.includes(word)).length);
    return best(tools, scores);
  };
}

const words = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

function best(tools: readonly Tool[], scores: readonly number[]): Tool[] {
  return tools
    .map((tool, index) => ({ tool, score: scores[index] ?? 0 }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ tool }) => tool);
}
