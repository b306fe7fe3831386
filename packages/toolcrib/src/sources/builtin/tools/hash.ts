import { hash } from 'node:crypto';
import { choiceArgument, textArgument } from '../argument.ts';
import type { BuiltinTool } from '../builtin-tool.ts';
import { harmless, structuredOutput } from '../builtin-tool.ts';

const algorithms = ['sha256', 'sha384', 'sha512', 'sha1', 'md5'] as const;
const encodings = ['hex', 'base64'] as const;

export const hashTool: BuiltinTool = {
  definition: {
    name: 'hash',
    title: 'Hash',
    description:
      'Computes the checksum (digest) of a text, as UTF-8. Use it to compare or identify content. ' +
      'Use sha1 and md5 only to match existing checksums; they are not secure.',
    input_schema: {
      type: 'object',
      properties: {
        text: { type: 'string', maxLength: 1_000_000, description: 'The text, taken exactly as it is' },
        algorithm: { type: 'string', enum: [...algorithms], default: 'sha256', description: 'Which hash function' },
        encoding: { type: 'string', enum: [...encodings], default: 'hex', description: 'How to write the digest' },
      },
      required: ['text'],
      additionalProperties: false,
    },
    output_schema: {
      type: 'object',
      properties: {
        digest: { type: 'string', description: 'The digest in the encoding asked for' },
        algorithm: { type: 'string', enum: [...algorithms] },
        encoding: { type: 'string', enum: [...encodings] },
      },
      required: ['digest', 'algorithm', 'encoding'],
      additionalProperties: false,
    },
    annotations: { title: 'Hash', ...harmless },
  },
  tags: ['text', 'data'],
  run(args) {
    const algorithm = choiceArgument(args, 'algorithm', algorithms, 'sha256');
    const encoding = choiceArgument(args, 'encoding', encodings, 'hex');
    const digest = hash(algorithm, textArgument(args, 'text'), encoding);
    return structuredOutput({ digest, algorithm, encoding }, digest);
  },
};
