import type { ImportReport } from '../../model/import-report.ts';
import type { Json } from '../../model/json.ts';
import type { DiscoveredTool } from '../../model/tool.ts';
import { boundsOf } from './document-bounds.ts';
import { Unusable } from './unusable.ts';

export interface ToolBudgetInput {
  /** Takes each tool as JSON, so that no second copy is kept. */
  give(json: string): void;
  /** The limit for all schemas together. */
  mostValues?: number | undefined;
}

/** Counts the tools of a document and enforces the limits. */
export interface ToolBudget {
  has(name: string): boolean;
  /** Throws `Unusable` if no tool of this name can be added. */
  check(name: string): void;
  /** Throws `Unusable` if the tool exceeds a limit. */
  add(tool: DiscoveredTool): void;
  report(): Pick<ImportReport, 'tools' | 'tokens' | 'advice'>;
}

const mostTools = 20_000;
// The gateway keeps the tools in memory while the source exists. Small values take the most memory for their length.
const mostText = 64 * 1024 * 1024;
const usualMostValues = 2_000_000;
/** Above this, a list of all tools leaves a model too little room for its work. */
const manyTokens = 20_000;

export function createToolBudget({ give, mostValues = usualMostValues }: ToolBudgetInput): ToolBudget {
  const taken = new Set<string>();
  let characters = 0;
  let values = 0;
  let listed = 0;

  return {
    has: (name) => taken.has(name.toLowerCase()),
    check(name) {
      if (taken.size >= mostTools) throw new Unusable(`A source can have at most ${mostTools} tools`);
      if (taken.has(name.toLowerCase())) throw new Unusable('Another tool of the document has the same name');
    },
    add(tool) {
      const { name, description, input_schema } = tool.definition;
      const json = JSON.stringify(tool);
      const { nodes } = boundsOf(tool as unknown as Json, Number.POSITIVE_INFINITY, false);
      if (characters + json.length > mostText) throw new Unusable(`The tools of a source can take at most ${mostText / 1024 / 1024} MiB`);
      if (values + nodes > mostValues) throw new Unusable(`The tools of a source can have at most ${mostValues} values in their schemas`);
      characters += json.length;
      values += nodes;
      listed += name.length + description.length + JSON.stringify(input_schema).length;
      taken.add(name.toLowerCase());
      give(json);
    },
    report() {
      const tokens = Math.ceil(listed / 4);
      return { tools: taken.size, tokens, advice: tokens > manyTokens ? adviceFor(taken.size, tokens) : null };
    },
  };
}

function adviceFor(tools: number, tokens: number): string {
  return `A list of all ${tools} tools is about ${tokens} tokens long. Choose some of them with tools.include (by name, tags, paths or methods), or give agents search_tools and call_tool instead of the list.`;
}
