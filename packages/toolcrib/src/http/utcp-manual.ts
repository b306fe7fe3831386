import type { JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import { bodyFieldOf } from './utcp-arguments.ts';
import { utcpSchema } from './utcp-schema.ts';

/** Where a UTCP client calls a tool with nothing but its arguments. */
export const utcpCallPath = '/api/bff/utcp/{tool_id}';

/** The caller's own token, as a variable that the client fills in: `TOOLCRIB_TOKEN` behind the name it has given the manual. */
const auth = { auth_type: 'api_key', api_key: 'Bearer ${TOOLCRIB_TOKEN}', var_name: 'Authorization', location: 'header' };

/** [UTCP-1] A manual. It has no other fields: the public client refuses those it does not know. */
export function utcpManual(tools: readonly Tool[], publicUrl: string): string {
  return `{"utcp_version":"1.0.1","manual_version":"1.0.0","tools":[${tools.map((tool) => JSON.stringify(utcpTool(tool, publicUrl))).join(',')}]}`;
}

function utcpTool({ tool_id, name, description, definition, tags }: Tool, publicUrl: string): JsonObject {
  const field = bodyFieldOf(definition.input_schema);
  return {
    name: name.replace(':', '.'),
    description,
    inputs: utcpSchema(definition.input_schema),
    outputs: utcpSchema(definition.output_schema ?? {}),
    tags: [...tags],
    tool_call_template: {
      call_template_type: 'http',
      http_method: 'POST',
      url: `${publicUrl}${utcpCallPath.replace('{tool_id}', tool_id)}`,
      ...(field === undefined ? {} : { body_field: field.name, content_type: field.content_type }),
      auth,
    },
  };
}
