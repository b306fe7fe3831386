import type { ListQuery } from '../api.ts';
import { describeTool } from '../inventory/describe-tool.ts';
import type { JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';

type Format = NonNullable<ListQuery['format']>;
type ToolForm = (tool: Tool, baseUrl: string) => JsonObject;

/** [BFF-1] One tool in the form each kind of client passes to its model. */
const forms: Record<Exclude<Format, 'vercel-ai'>, ToolForm> = {
  openai: ({ model_name, description, definition }) => ({
    type: 'function',
    function: { name: model_name, description, parameters: definition.input_schema },
  }),
  anthropic: ({ model_name, description, definition }) => ({ name: model_name, description, input_schema: definition.input_schema }),
  gemini: ({ model_name, description, definition }) => ({ name: model_name, description, parametersJsonSchema: definition.input_schema }),
  utcp: (tool, baseUrl) => ({
    name: tool.model_name,
    description: tool.description,
    inputs: {
      type: 'object',
      properties: {
        body: {
          type: 'object',
          properties: { tool_id: { type: 'string', const: tool.tool_id }, arguments: tool.definition.input_schema },
          required: ['tool_id', 'arguments'],
        },
      },
      required: ['body'],
    },
    outputs: {
      type: 'object',
      properties: { success: { type: 'boolean' }, text: { type: 'string' }, result: tool.definition.output_schema ?? {} },
    },
    tags: [...tool.tags],
    tool_call_template: {
      call_template_type: 'http',
      http_method: 'POST',
      url: `${baseUrl}/api/bff/tools/call`,
      content_type: 'application/json',
      body_field: 'body',
      auth: { auth_type: 'api_key', api_key: 'Bearer ${TOOLCRIB_TOKEN}', var_name: 'Authorization', location: 'header' },
    },
  }),
};

/** One page of tools as text. Entries are made once per tool and kept with it, so a list of a thousand is mostly joining strings. */
export function renderList(
  tools: readonly Tool[],
  page: { format: Format | undefined; total: number; next: string | null; baseUrl: string },
): string {
  const paging = `"total":${page.total},"next_cursor":${JSON.stringify(page.next)}`;
  switch (page.format) {
    case undefined:
      return `{"tools":[${tools.map(listedJson).join(',')}],${paging}}`;
    case 'openai':
    case 'anthropic': {
      const form = forms[page.format];
      return `{"tools":[${tools.map((tool) => JSON.stringify(form(tool, page.baseUrl))).join(',')}],${paging}}`;
    }
    case 'gemini': {
      const declarations = tools.map((tool) => JSON.stringify(forms.gemini(tool, page.baseUrl))).join(',');
      return `{"tools":[{"functionDeclarations":[${declarations}]}],${paging}}`;
    }
    case 'vercel-ai': {
      const entries = tools.map(({ model_name, description, definition }) => {
        return `${JSON.stringify(model_name)}:${JSON.stringify({ description, inputSchema: definition.input_schema })}`;
      });
      return `{"tools":{${entries.join(',')}},${paging}}`;
    }
    case 'utcp': {
      const manual = tools.map((tool) => JSON.stringify(forms.utcp(tool, page.baseUrl))).join(',');
      return `{"utcp_version":"1.0.1","manual_version":"1.0.0","tools":[${manual}],${paging}}`;
    }
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
