import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CribError, httpStatusByCode, type ErrorCode } from '../src/model/crib-error.ts';
import { origins } from '../src/model/origin.ts';
import * as named from '../src/model/named-errors.ts';

const codes = Object.keys(httpStatusByCode) as ErrorCode[];

describe('[EXEC-6] docs/errors.md', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'errors.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| (\d{3}) \| (.+) \| (.+) \|$/gm)];

  test('lists exactly the existing codes, in order, each with its status', () => {
    expect(rows.map(([, code, status]) => [code, Number(status)])).toEqual(Object.entries(httpStatusByCode));
  });

  test('says for each code when it is used and what to do', () => {
    for (const [, , , when, whatToDo] of rows) expect([when?.endsWith('.'), whatToDo?.endsWith('.')]).toEqual([true, true]);
  });

  test('[EXEC-3] says for each origin what happened and who acts', () => {
    const found = [...page.matchAll(/^\| `([a-z]+)` \| (.+\.) \| (.+\.) \|$/gm)];
    expect(found.map(([, origin]) => origin)).toEqual(origins);
    expect([...page.matchAll(/"origin": "([^"]+)"/g)].every(([, shown]) => origins.some((known) => known === shown))).toBe(true);
  });

  test('shows no code that does not exist', () => {
    const shown = [...page.matchAll(/"code": "([^"]+)"/g)].map(([, code]) => code);
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.filter((code) => !codes.some((known) => known === code))).toEqual([]);
  });
});

test('[EXEC-6] codes have the specified HTTP status', () => {
  expect(httpStatusByCode).toEqual({
    VALIDATION_ERROR: 400,
    UNAUTHENTICATED: 401,
    FORBIDDEN: 403,
    NOT_FOUND: 404,
    CONFLICT: 409,
    PAYLOAD_TOO_LARGE: 413,
    RATE_LIMITED: 429,
    INTERNAL: 500,
    NETWORK_ERROR: 502,
    SERVICE_UNAVAILABLE: 503,
  });
});

test('[EXEC-3] a refusal is written as code, message and field only', () => {
  const error = new CribError('CONFLICT', 'Taken', {
    field: 'name',
    details: { secret: 1 },
    cause: new Error('inner'),
    upstreamStatus: 500,
  });
  expect(JSON.parse(JSON.stringify(error))).toEqual({ code: 'CONFLICT', message: 'Taken', field: 'name' });
  expect(JSON.parse(JSON.stringify(new CribError('INTERNAL', 'Oh')))).toEqual({ code: 'INTERNAL', message: 'Oh' });
});

test.each(codes)('[EXEC-6] %s can be retried only if waiting may help', (code) => {
  expect(new CribError(code, 'x').retryable).toBe(code === 'RATE_LIMITED' || code === 'SERVICE_UNAVAILABLE');
  expect(new CribError(code, 'x', { retryable: false }).retryable).toBe(false);
  expect(new CribError(code, 'x').httpStatus).toBe(httpStatusByCode[code]);
});

test.each([
  [new named.ConnectionError('x'), 'ConnectionError', 'NETWORK_ERROR', true],
  [new named.ProtocolError('x'), 'ProtocolError', 'SERVICE_UNAVAILABLE', true],
  [new named.TimeoutError('x'), 'TimeoutError', 'NETWORK_ERROR', true],
  [new named.TransportError('NETWORK_ERROR', 'x'), 'TransportError', 'NETWORK_ERROR', true],
  [new named.ValidationError('x'), 'ValidationError', 'VALIDATION_ERROR', false],
  [new named.ToolNotFoundError('x'), 'ToolNotFoundError', 'NOT_FOUND', false],
  [new named.ToolCallError('x'), 'ToolCallError', 'SERVICE_UNAVAILABLE', false],
] as const)('[EXEC-6] %s is the one error class under another name', (error, name, code, isTransport) => {
  expect(error).toBeInstanceOf(CribError);
  expect(error).toMatchObject({ name, code, httpStatus: httpStatusByCode[code] });
  expect(error instanceof named.TransportError).toBe(isTransport);
});
