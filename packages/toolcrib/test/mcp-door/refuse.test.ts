import { expect, test } from 'vitest';
import { createExplainError } from '../../src/mcp-door/refuse.ts';
import { DoorError } from '../../src/mcp-door/rpc.ts';
import { CribError } from '../../src/model/crib-error.ts';

const logged: unknown[] = [];
const explain = createExplainError({ error: (about: object) => void logged.push(about) });

test('[DOOR-5] refusals keep their words, and a fault of ours is in the log and not in the answer', () => {
  const own = new DoorError(-32_601, 'Method not found');
  expect(explain(own)).toBe(own);
  expect(explain(new CribError('VALIDATION_ERROR', 'limit must be a number'))).toMatchObject({
    code: -32_602,
    message: 'limit must be a number',
  });
  expect(explain(new CribError('RATE_LIMITED', 'Too many searches'))).toMatchObject({ code: -32_603, message: 'Too many searches' });
  expect(logged).toEqual([]);
  const fault = new TypeError("Cannot read properties of undefined (reading 'secret')");
  expect(explain(fault).message).not.toContain('secret');
  expect(logged).toEqual([{ err: fault }]);
});
