import { numberArgument, textArgument } from '../argument.ts';
import type { BuiltinTool } from '../builtin-tool.ts';
import { harmless } from '../builtin-tool.ts';
import { computeOutput } from '../compute-output.ts';

const textField = { type: 'string', maxLength: 1_000_000 };

export const textDiffTool: BuiltinTool = {
  definition: {
    name: 'text_diff',
    title: 'Text diff',
    description:
      'Compares two texts line by line and returns the difference as a unified diff, with the numbers of added and removed lines. ' +
      'Use it to see or show exactly what changed between two versions.',
    input_schema: {
      type: 'object',
      properties: {
        before: { ...textField, description: 'The old text' },
        after: { ...textField, description: 'The new text' },
        context_lines: { type: 'integer', minimum: 0, maximum: 100, default: 3, description: 'Unchanged lines to show around each change' },
        name: { type: 'string', minLength: 1, maxLength: 200, description: 'File name for the header of the diff' },
      },
      required: ['before', 'after'],
      additionalProperties: false,
    },
    output_schema: {
      type: 'object',
      properties: {
        identical: { type: 'boolean', description: 'Whether the texts are the same' },
        added: { type: 'integer', minimum: 0, description: 'Lines only in the new text' },
        removed: { type: 'integer', minimum: 0, description: 'Lines only in the old text' },
        diff: { type: 'string', description: 'The unified diff; empty if the texts are the same' },
        truncated: { type: 'boolean', description: 'Whether the diff was too long and is cut' },
      },
      required: ['identical', 'added', 'removed', 'diff', 'truncated'],
      additionalProperties: false,
    },
    annotations: { title: 'Text diff', ...harmless },
  },
  tags: ['text'],
  async run(args, context, { compute }) {
    const outcome = await compute.run(
      {
        kind: 'text_diff',
        before: textArgument(args, 'before'),
        after: textArgument(args, 'after'),
        contextLines: numberArgument(args, 'context_lines', 3),
        name: args.name === undefined ? undefined : textArgument(args, 'name'),
      },
      context.principal.key,
      context.signal,
    );
    return computeOutput(outcome, 'Pass shorter texts, or compare them part by part.');
  },
};
