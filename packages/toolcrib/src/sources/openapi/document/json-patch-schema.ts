import type { JsonObject } from '../../../model/json.ts';

/** RFC 6902, for documents that name the media type but describe something else. */
export const jsonPatchSchema: JsonObject = {
  type: 'array',
  description: 'A JSON Patch (RFC 6902)',
  items: {
    type: 'object',
    properties: {
      op: { type: 'string', enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'] },
      path: { type: 'string', description: 'A JSON Pointer' },
      from: { type: 'string', description: 'A JSON Pointer, for move and copy' },
      value: {},
    },
    required: ['op', 'path'],
  },
};
