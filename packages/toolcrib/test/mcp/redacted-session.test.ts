import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { createRedactor } from '../../src/secrets/redactor.ts';
import { redactedSession } from '../../src/sources/mcp/session/redacted-session.ts';
import { redactError, redactOutput } from '../../src/sources/upstream/redacted.ts';
import { outputFromResult, outputFromRpcError } from '../../src/sources/mcp/session/call-result.ts';
import { RpcError } from '../../src/sources/mcp/session/session-errors.ts';
import { cannotHaveRun, SessionLostError } from '../../src/sources/upstream/session-lost.ts';
import { openStdio, textOf } from '../fixtures/mcp/sessions.ts';

test('[ENV-4] [MCP-11] an error that quotes a secret is redacted, and still says whether the call may be repeated', () => {
  const redactor = createRedactor();
  redactor.add('canary-5e11c0de');
  const lost = new SessionLostError('It ended: canary-5e11c0de', { mayHaveRun: false, details: { said: 'canary-5e11c0de' } });
  const told = redactError(lost, redactor);
  expect([told.message, told.details]).toEqual(['It ended: ***', { said: '***' }]);
  expect(told.stack).not.toContain('canary-5e11c0de');
  expect(cannotHaveRun(told)).toBe(true);
});

test('[ENV-4] metadata in an answer or an error is redacted', () => {
  const redactor = createRedactor();
  redactor.add('canary-5e11c0de');
  const output = outputFromRpcError(new RpcError(-32_603, 'It failed', { token: 'canary-5e11c0de' }));
  expect(redactOutput(output, redactor)).toEqual({ ...output, metadata: { rpc_error: { code: -32_603, data: { token: '***' } } } });
  const answer = outputFromResult({ content: [], _meta: { 'example/key': 'canary-5e11c0de' } });
  expect(redactOutput(answer, redactor)).toEqual({ content: [], metadata: { upstream_meta: { 'example/key': '***' } } });
  const clean = outputFromResult({ content: [], _meta: { 'example/key': 'x' } });
  expect(redactOutput(clean, redactor)).toBe(clean);
});

test('[ENV-4] a question that a server asks during a call is redacted', async () => {
  await using opened = await openStdio('plain');
  const [name = '', value = ''] =
    Object.entries(JSON.parse(await textOf(opened.session, 'environment')) as Record<string, string>).find(
      ([, { length }]) => length > 8,
    ) ?? [];
  const redactor = createRedactor();
  redactor.add(value);
  const asked: unknown[] = [];
  const onElicit = async ({ message = null }: JsonObject) => {
    asked.push(message);
    return { action: 'decline' };
  };
  await textOf(redactedSession(opened.session, redactor), 'environment', { name, say: 'elicit' }, { onElicit });
  expect(asked).toEqual(['***']);
});
