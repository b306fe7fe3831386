import { randomUUID } from 'node:crypto';
import { uuidV7 } from '../../../model/uuid-v7.ts';
import { numberArgument } from '../argument.ts';
import type { BuiltinTool } from '../builtin-tool.ts';
import { harmless, structuredOutput } from '../builtin-tool.ts';

const most = 100;

export const uuidTool: BuiltinTool = {
  definition: {
    name: 'uuid',
    title: 'UUID',
    description:
      'Makes new, unique identifiers (UUIDs). Version 4 is random; version 7 begins with the time, so that identifiers made later sort later. ' +
      'Use it whenever an identifier is needed; never make one up.',
    input_schema: {
      type: 'object',
      properties: {
        version: { type: 'integer', enum: [4, 7], default: 4, description: '4: random; 7: sorts by time' },
        count: { type: 'integer', minimum: 1, maximum: most, default: 1, description: 'How many to make' },
      },
      required: [],
      additionalProperties: false,
    },
    output_schema: {
      type: 'object',
      properties: { uuids: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: most, description: 'The new identifiers' } },
      required: ['uuids'],
      additionalProperties: false,
    },
    annotations: { title: 'UUID', ...harmless },
  },
  tags: ['data'],
  run(args) {
    const count = Math.min(numberArgument(args, 'count', 1), most);
    const uuids = Array.from({ length: count }, () => (args.version === 7 ? uuidV7() : randomUUID()));
    return structuredOutput({ uuids }, uuids.join('\n'));
  },
};
