import { textArgument } from '../argument.ts';
import type { BuiltinTool } from '../builtin-tool.ts';
import { failedOutput, harmless } from '../builtin-tool.ts';
import { computeOutput } from '../compute-output.ts';

const longestData = 5_000_000;

export const jsonQueryTool: BuiltinTool = {
  definition: {
    name: 'json_query',
    title: 'JSON query',
    description:
      'Picks values out of JSON data with a JSONPath query (RFC 9535) and returns each match with its path. ' +
      'Use it to find or extract parts of a large object or array. Examples: $.store.book[0].title; $..author; $.items[?@.price < 10].name; ' +
      '$.users[?@.role == "admin" && @.active]; $.rows[-3:]. Filter functions: length(), count(), match(), search(), value().',
    input_schema: {
      type: 'object',
      properties: {
        data: { description: 'The JSON data itself, usually an object or an array (not text that contains JSON)' },
        query: { type: 'string', minLength: 1, maxLength: 2000, description: 'The JSONPath query; it begins with $' },
      },
      required: ['data', 'query'],
      additionalProperties: false,
    },
    output_schema: {
      type: 'object',
      properties: {
        matches: {
          type: 'array',
          description: 'The values found, in document order',
          items: {
            type: 'object',
            properties: {
              path: { type: 'string', description: "Where the value is, as a normalized path such as $['items'][0]" },
              value: { description: 'The value found' },
            },
            required: ['path', 'value'],
            additionalProperties: false,
          },
        },
        truncated: { type: 'boolean', description: 'Whether there are more matches than were returned' },
      },
      required: ['matches', 'truncated'],
      additionalProperties: false,
    },
    annotations: { title: 'JSON query', ...harmless },
  },
  tags: ['data'],
  async run(args, context, { compute }) {
    let data: string;
    try {
      data = JSON.stringify(args.data);
    } catch {
      return failedOutput('The data is nested too deeply to be queried.');
    }
    if (data.length > longestData)
      return failedOutput(`The data is longer than ${longestData} characters of JSON. Pass a smaller part of it.`);
    const outcome = await compute.run(
      { kind: 'json_query', data, query: textArgument(args, 'query') },
      context.principal.key,
      context.signal,
    );
    return computeOutput(outcome, 'Correct or narrow the query, or pass less data.');
  },
};
