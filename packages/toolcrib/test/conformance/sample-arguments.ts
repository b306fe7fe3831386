import type { JsonObject } from '../../src/model/json.ts';
import type { Tool } from '../../src/model/tool.ts';

/** Arguments that fit the tools of the suite's servers, by the name the server has for the tool. Most take none. */
export function sampleArguments({ definition }: Tool, tools: readonly Tool[]): JsonObject {
  switch (definition.name) {
    case 'add_numbers':
      return { a: 5, b: 3 };
    case 'valid_tool':
      return { region: 'us-west1' };
    case 'lookup_user':
      return { id: 'alice' };
    case 'json_schema_2020_12_tool':
      return { contactMethod: 'phone', phone: '112' };
    case 'json_schema_echo':
      // The suite looks here for what became of the other tool's schema on its way through us.
      return { schema: tools.find((tool) => tool.definition.name === 'json_schema_2020_12_tool')?.definition.input_schema ?? null };
    default:
      return {};
  }
}
