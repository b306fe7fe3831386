import { textArgument } from '../argument.ts';
import type { BuiltinTool } from '../builtin-tool.ts';
import { harmless, structuredOutput } from '../builtin-tool.ts';
import { noSuchTool, toolNameField } from '../no-such-tool.ts';

export const describeToolTool: BuiltinTool = {
  definition: {
    name: 'describe_tool',
    title: 'Describe tool',
    description:
      'Shows everything about one tool you may use, above all its input schema: read it before you call the tool with call_tool.',
    input_schema: {
      type: 'object',
      properties: { name: toolNameField },
      required: ['name'],
      additionalProperties: false,
    },
    output_schema: { type: 'object', description: 'The tool: its names, description, input and output schemas and annotations' },
    annotations: { title: 'Describe tool', ...harmless },
  },
  tags: ['tools'],
  run(args, context, { catalogue }) {
    const name = textArgument(args, 'name');
    const described = catalogue.describe(context.principal, name);
    if (!described) return noSuchTool(name, catalogue.suggest(context.principal, name));
    // A copy, so that later code cannot change the catalogue's own record.
    const text = JSON.stringify(described);
    return structuredOutput(JSON.parse(text), text);
  },
};
