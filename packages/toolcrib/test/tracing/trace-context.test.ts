import { expect, test } from 'vitest';
import { readTraceContext, traceIdOf } from '../../src/model/trace-context.ts';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const span = '00f067aa0ba902b7';
const usual = `00-${trace}-${span}-01`;

test.each<[name: string, traceparent: unknown, tracestate: unknown, expected: object | undefined]>([
  ['the usual form', usual, undefined, { traceparent: usual }],
  [
    'with a note of a vendor',
    usual,
    'rojo=00f067aa0ba902b7,congo=t61',
    { traceparent: usual, tracestate: 'rojo=00f067aa0ba902b7,congo=t61' },
  ],
  [
    'a later version, which is passed on as the one we know',
    `cc-${trace}-${span}-01-what-the-future-holds`,
    undefined,
    { traceparent: usual },
  ],
  ['a note that is too long', usual, `a=${'x'.repeat(600)}`, { traceparent: usual }],
  ['a note with a line break in it', usual, 'a=1\r\nx-evil: 1', { traceparent: usual }],
  ['no text at all', undefined, undefined, undefined],
  ['several at once', [usual, usual], undefined, undefined],
  ['several in one', `${usual}, ${usual}`, undefined, undefined],
  ['the forbidden version', `ff-${trace}-${span}-01`, undefined, undefined],
  ['more than version 00 has', `${usual}-more`, undefined, undefined],
  ['a trace of nothing but zeros', `00-${'0'.repeat(32)}-${span}-01`, undefined, undefined],
  ['a span of nothing but zeros', `00-${trace}-${'0'.repeat(16)}-01`, undefined, undefined],
  ['capital letters', usual.toUpperCase(), undefined, undefined],
  ['a very long one', `cc-${trace}-${span}-01-${'x'.repeat(10_000)}`, undefined, undefined],
])('[OPS-1] the caller’s trace context is read or ignored: %s', (_name, traceparent, tracestate, expected) => {
  expect(readTraceContext(traceparent, tracestate)).toEqual(expected);
});

test('[OPS-1] the id of a trace is its second part', () => {
  expect(traceIdOf({ traceparent: usual })).toBe(trace);
});
