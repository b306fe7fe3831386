import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerJson } from '../../src/execution/answer-json.ts';
import { answerFrom } from '../../src/execution/shaper.ts';
import { RunningCall } from '../../src/execution/running-call.ts';
import type { ToolOutput } from '../../src/model/call.ts';
import { samplePrincipal, sampleTool } from '../fixtures/samples.ts';

const call = new RunningCall({
  callId: 'call',
  principal: samplePrincipal(),
  tool: sampleTool(),
  policies: 'staff',
  policyRevision: 1,
  startedAt: 0,
  timeoutMs: 1000,
  maxTimeoutMs: 1000,
});
const parsed = (json: string) => JSON.parse(json) as unknown;

test('[EXEC-2] an answer with the text as its source wrote it says the same as one that is written anew', () => {
  const output = fc.record(
    { text: fc.oneof(fc.string({ unit: 'binary' }), fc.json()), structured_content: fc.jsonValue(), is_error: fc.boolean() },
    { requiredKeys: ['text'] },
  );
  fc.assert(
    fc.property(output, ({ text, ...more }) => {
      const answer = answerFrom(call, { content: [{ type: 'text', text }], ...more } as ToolOutput, 1.5);
      expect(parsed(answerJson(answer, { text, json: JSON.stringify(text) }))).toEqual(parsed(JSON.stringify(answer)));
    }),
  );
});

test('[ENV-4] [EXEC-7] a text that was changed since is written anew', () => {
  const raw = { text: 'the secret', json: '"the secret"' };
  const texts = [[{ type: 'text', text: '***' }], [{ type: 'text', text: 'the secret', annotations: {} }], []];
  for (const content of texts) {
    const answer = answerFrom(call, { content }, 1);
    expect(answerJson(answer, raw)).toBe(JSON.stringify(answer));
  }
});
