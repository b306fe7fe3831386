import type { ListQuery } from '../api.ts';
import { compactTool } from '../inventory/compact-tool.ts';
import { describeTool } from '../inventory/describe-tool.ts';
import type { JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import { utcpManual } from './utcp-manual.ts';

type Format = NonNullable<ListQuery['format']>;
type ToolForm = (tool: Tool) => JsonObject;

/** [BFF-1] One tool in the form each kind of client passes to its model. */
const forms: Record<Exclude<Format, 'vercel-ai' | 'utcp'>, ToolForm> = {
  openai: ({ model_name, description, definition }) => ({
    type: 'function',
    function: { name: model_name, description, parameters: definition.input_schema },
  }),
  anthropic: ({ model_name, description, definition }) => ({ name: model_name, description, input_schema: definition.input_schema }),
  gemini: ({ model_name, description, definition }) => ({ name: model_name, description, parametersJsonSchema: definition.input_schema }),
};

/** One page of tools as text. Entries are made once per tool and kept with it, so a list of a thousand is mostly joining strings. */
export function renderList(
  tools: readonly Tool[],
  page: { format: Format | undefined; view: ListQuery['view']; total: number; next: string | null; publicUrl: string },
): string {
  const paging = `"total":${page.total},"next_cursor":${JSON.stringify(page.next)}`;
  if (page.view === 'compact') return `{"tools":${JSON.stringify(tools.map(compactTool))},${paging}}`;
  switch (page.format) {
    case undefined:
      return `{"tools":[${tools.map(listedJson).join(',')}],${paging}}`;
    case 'openai':
    case 'anthropic': {
      const form = forms[page.format];
      return `{"tools":[${tools.map((tool) => JSON.stringify(form(tool))).join(',')}],${paging}}`;
    }
    case 'gemini': {
      const declarations = tools.map((tool) => JSON.stringify(forms.gemini(tool))).join(',');
      return `{"tools":[{"functionDeclarations":[${declarations}]}],${paging}}`;
    }
    case 'vercel-ai': {
      const entries = tools.map(({ model_name, description, definition }) => {
        return `${JSON.stringify(model_name)}:${JSON.stringify({ description, inputSchema: definition.input_schema })}`;
      });
      return `{"tools":{${entries.join(',')}},${paging}}`;
    }
    case 'utcp':
      return utcpManual(tools, page.publicUrl);
  }
}

const listed = new WeakMap<Tool, string>();

function listedJson(tool: Tool): string {
  let text = listed.get(tool);
  if (text === undefined) {
    text = JSON.stringify(describeTool(tool));
    listed.set(tool, text);
  }
  return text;
}
