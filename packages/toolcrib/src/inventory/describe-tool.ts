import type { Json, JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';

/** [BFF-1] A tool as its callers see it, in the list, on the stream and from `describe_tool`. */
export function describeTool(tool: Tool): JsonObject {
  return {
    tool_id: tool.tool_id,
    name: tool.name,
    model_name: tool.model_name,
    title: tool.title,
    description: tool.description,
    input_schema: tool.definition.input_schema,
    output_schema: tool.definition.output_schema ?? null,
    annotations: tool.definition.annotations ?? {},
    source_id: tool.source_id,
    source_name: tool.source_name,
    tags: tool.tags as Json[],
    version: tool.version,
    execution_mode: tool.execution_mode,
  };
}
