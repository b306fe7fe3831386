import { CribError } from '../model/crib-error.ts';
import { changedInteger } from '../model/exact-json.ts';
import { atJsonFault } from '../model/json-fault.ts';

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

/** What arrives as another number than was written is worse than nothing. */
function refuseChangedIntegers(text: string): void {
  const changed = changedInteger(text);
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
  if (text.length <= 2 * maxDepth) return;
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
