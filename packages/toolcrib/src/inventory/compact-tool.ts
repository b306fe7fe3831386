import type { Tool } from '../model/tool.ts';
import { isObject } from '../model/json.ts';

const longestLine = 160;

/** A tool in one line: enough for a model to choose it, without the schemas that make lists long. */
export interface CompactTool {
  name: string;
  model_name: string;
  description: string;
  parameters: string[];
}

export function compactTool(tool: Tool): CompactTool {
  const { name, model_name, definition } = tool;
  const { properties } = definition.input_schema;
  const parameters = isObject(properties) ? Object.keys(properties) : [];
  return { name, model_name, description: lineOf(tool), parameters };
}

/** The first sentence of the description, or the title where there is none. */
function lineOf({ title, description }: Tool): string {
  const [sentence = ''] = description.trim().split(/(?<=[.!?])\s|\n\s*\n/, 1);
  const line = (sentence === '' ? (title ?? '') : sentence).replaceAll(/\s+/g, ' ').trim();
  if (line.length <= longestLine) return line;
  // Never between the two halves of a surrogate pair.
  return `${line.slice(0, longestLine).replace(/[\ud800-\udbff]$/, '')}…`;
}
