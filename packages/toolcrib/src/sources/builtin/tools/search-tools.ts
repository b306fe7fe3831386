import type { JsonObject } from '../../../model/json.ts';
import { numberArgument, textArgument } from '../argument.ts';
import type { BuiltinTool } from '../builtin-tool.ts';
import { harmless, structuredOutput } from '../builtin-tool.ts';

const most = 50;

export const searchToolsTool: BuiltinTool = {
  definition: {
    name: 'search_tools',
    title: 'Search tools',
    description:
      'Finds tools you may use, by what they do. Use it when none of the tools you see fits the task. ' +
      'Then look at one with describe_tool and run it with call_tool.',
    input_schema: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          minLength: 1,
          maxLength: 500,
          description: 'What the tool should do, in your own words, for example "create issue"',
        },
        limit: { type: 'integer', minimum: 1, maximum: most, default: 10, description: 'How many tools to return at most' },
        view: {
          type: 'string',
          enum: ['full', 'compact'],
          default: 'full',
          description: '"compact" shortens each description to one line; use it to see many tools',
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
    output_schema: {
      type: 'object',
      properties: {
        tools: {
          type: 'array',
          maxItems: most,
          description: 'The tools found, best first',
          items: {
            type: 'object',
            properties: {
              name: { type: 'string', description: 'The name to pass to describe_tool and call_tool' },
              model_name: { type: 'string', description: 'The name under which the tool may be listed to a model' },
              title: { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'Not in a compact answer' },
              description: { type: 'string' },
              parameters: { type: 'array', items: { type: 'string' }, description: 'Names of its parameters' },
            },
            required: ['name', 'model_name', 'description', 'parameters'],
            additionalProperties: false,
          },
        },
      },
      required: ['tools'],
      additionalProperties: false,
    },
    annotations: { title: 'Search tools', ...harmless },
  },
  tags: ['tools'],
  run(args, context, { catalogue }) {
    const found = catalogue.search(context.principal, textArgument(args, 'query'), numberArgument(args, 'limit', 10));
    // Copied field by field, to leave out the catalogue's other fields.
    const isCompact = args['view'] === 'compact';
    const tools = found.map(({ name, model_name, title, description, summary, parameters }): JsonObject =>
      isCompact ? { name, model_name, description: summary, parameters } : { name, model_name, title, description, parameters },
    );
    if (tools.length === 0) return structuredOutput({ tools }, 'No tool fits. Try other or fewer words.');
    return structuredOutput({ tools }, found.map((tool) => `${tool.name}: ${isCompact ? tool.summary : tool.description}`).join('\n'));
  },
};
