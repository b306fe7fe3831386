import { expect, test } from 'vitest';
import { createRedactor } from '../../src/secrets/redactor.ts';
import { redactError } from '../../src/sources/upstream/redacted.ts';
import { cannotHaveRun, SessionLostError } from '../../src/sources/mcp/session/session-errors.ts';

test('[ENV-4] [MCP-11] an error that quotes a secret is cleared of it, and still says whether the call may be made again', () => {
  const redactor = createRedactor();
  redactor.add('canary-5e11c0de');
  const lost = new SessionLostError('It ended: canary-5e11c0de', { mayHaveRun: false, details: { said: 'canary-5e11c0de' } });
  const told = redactError(lost, redactor);
  expect([told.message, told.details]).toEqual(['It ended: ***', { said: '***' }]);
  expect(told.stack).not.toContain('canary-5e11c0de');
  expect(cannotHaveRun(told)).toBe(true);
});
