import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { suggestTools } from '../../src/inventory/suggest-tools.ts';
import { sampleTool } from '../fixtures/samples.ts';

const tool = (reference: string) => {
  const [namespace = '', name = ''] = reference.split(':');
  return sampleTool({ namespace, name });
};
const tools = [
  'builtin:calculator',
  'files:read_file',
  'files:read_text_file',
  'files:write_file',
  'git-hub:createIssue',
  'mail:read_file',
].map(tool);

describe('[CLI-1] a suggested tool', () => {
  test.each([
    ['builtin:calculater', ['builtin:calculator']],
    ['bultin:calculator', ['builtin:calculator']],
    ['builtin:calc', ['builtin:calculator']],
    ['calculator', ['builtin:calculator']],
    ['calcualtor', ['builtin:calculator']],
    // By the name that models know it under, or written another way.
    ['builtin_calculator', ['builtin:calculator']],
    ['Builtin:Calculator', ['builtin:calculator']],
    ['git-hub/create-issue', []],
    ['git-hub:createissue', ['git-hub:createIssue']],
    ['files:read', ['files:read_file', 'files:read_text_file']],
    ['files:read_fil', ['files:read_file']],
    ['read_file', ['files:read_file', 'mail:read_file']],
    ['elsewhere:read_file', ['files:read_file', 'mail:read_file']],
    ['nowhere:nothing', []],
    ['tool_000000000000000000000000', []],
    ['', []],
    ['x'.repeat(512), []],
    ['files:read_file\u0000', ['files:read_file']],
  ])('fits the request %j', (asked, suggested) => expect(suggestTools(asked, tools)).toEqual(suggested));

  test('is always one of the caller’s own', () => {
    const reference = fc.stringMatching(/^[a-c]{1,4}:[a-c_]{1,6}$/);
    fc.assert(
      fc.property(fc.uniqueArray(reference, { maxLength: 12 }), fc.oneof(reference, fc.string()), (own, asked) => {
        const mine = own.map(tool);
        const suggested = suggestTools(asked, mine);
        expect(suggested.length).toBeLessThanOrEqual(3);
        expect(suggested.filter((name) => !own.includes(name))).toEqual([]);
        // Another list of the same tools gives the same.
        expect(suggestTools(asked, [...mine])).toEqual(suggested);
      }),
      { numRuns: 300 },
    );
  });
});
