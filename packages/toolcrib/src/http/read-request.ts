import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { CribError } from '../model/crib-error.ts';
import { changedInteger, mayHoldLargeInteger } from '../model/exact-json.ts';
import { atJsonFault } from '../model/json-fault.ts';
import { readTraceContext, type TraceContext } from '../model/trace-context.ts';
import { validationError } from './to-crib-error.ts';

/** RFC 6750 §2.1. Tokens in the query or a cookie are never looked at. */
export function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw new CribError('UNAUTHENTICATED', 'Send the user\'s token as "Authorization: Bearer <token>"', { field: 'Authorization' });
  }
  // The one form that clients really send; everything else takes the long way.
  if (authorization.startsWith('Bearer ') && authorization.indexOf(' ', 7) < 0 && authorization.length > 7) return authorization.slice(7);
  const match = /^Bearer +([^\s]+)$/i.exec(authorization);
  if (match?.[1] === undefined) {
    throw new CribError('UNAUTHENTICATED', 'The Authorization header must be "Bearer <token>"', { field: 'Authorization' });
  }
  return match[1];
}

/** Parses strictly; a misfit is a `VALIDATION_ERROR` that names the field. */
export function parse<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw validationError(parsed.error);
}

/** The trace context of a call: the span of its request, or the caller's own context where tracing is off. */
export function traceOf({ span, headers }: FastifyRequest): TraceContext | undefined {
  if (span !== null) return span.context;
  return headers.traceparent === undefined ? undefined : readTraceContext(headers.traceparent, headers.tracestate);
}

/** Deeper than any honest request, and far from what could exhaust a stack. */
const maxDepth = 64;
/** The smallest ones take forty times their text in memory; a whole document is one. */
const mostValues = 1_000_000;

/**
 * The body as a value. A `__proto__` is refused wherever it stands: copied by careless code further on it would change what every object
 * inherits, and no honest request has one.
 */
export function parseJsonBody(text: string): unknown {
  if (text === '') throw new CribError('VALIDATION_ERROR', 'The body is empty: send a JSON object');
  refuseCostlyJson(text);
  let value: unknown;
  // RFC 8259 §8.1: a byte order mark may be passed over.
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  try {
    value = JSON.parse(plain);
  } catch (cause) {
    throw new CribError('VALIDATION_ERROR', `The body is not valid JSON${atJsonFault(plain)}`, { cause });
  }
  refuseChangedIntegers(plain);
  // Only a text with the name in it, or with an escape that may spell it, is worth walking through.
  if (text.includes('__proto__') || text.includes('\\u')) refusePrototype(value);
  return value;
}

/** A number that changes on the way is worse than an error. */
function refuseChangedIntegers(text: string): void {
  const changed = mayHoldLargeInteger.test(text) ? changedInteger(text) : undefined;
  if (changed === undefined) return;
  const { path, digits } = changed;
  const field = path.join('.').slice(0, 200) || 'body';
  const message = `${field} is ${digits.slice(0, 40)}, which is more than a number holds exactly (2^53): send it as text, in quotes`;
  throw new CribError('VALIDATION_ERROR', message, { field });
}

function refusePrototype(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, '__proto__')) {
    throw new CribError('VALIDATION_ERROR', '__proto__ cannot be the name of a field', { field: '__proto__' });
  }
  for (const inner of Object.values(value)) refusePrototype(inner);
}

/**
 * Refuses nesting and numbers of values before anything is built: `JSON.parse` would take a million levels, and whatever walks the value next
 * would not; and nothing ends it before it has filled the memory.
 */
function refuseCostlyJson(text: string): void {
  // Every level is opened and closed again, so a short text cannot be deep.
  if (text.length <= 2 * maxDepth || (text.length <= mostValues && opensFew(text))) return;
  let depth = 0;
  let values = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index);
    if (inString) {
      if (character === 0x5c) index++;
      else if (character === 0x22) inString = false;
    } else if (character === 0x22) inString = true;
    else if (character === 0x7b || character === 0x5b) {
      values++;
      if (++depth > maxDepth) throw new CribError('VALIDATION_ERROR', `The body is nested more than ${maxDepth} levels deep`);
    } else if (character === 0x7d || character === 0x5d) depth--;
    else if (character === 0x2c) values++;
  }
  if (values > mostValues) throw new CribError('PAYLOAD_TOO_LARGE', `The body has more than ${mostValues} values`);
}

/** Whether a text has too few brackets to be deep, wherever they stand: nearly all have, and looking for brackets alone is quick. */
function opensFew(text: string): boolean {
  let left = maxDepth;
  for (const bracket of '{[') {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) if (--left < 0) return false;
  }
  return true;
}
