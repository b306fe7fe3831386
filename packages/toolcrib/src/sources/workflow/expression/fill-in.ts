import { CribError } from '../../../model/crib-error.ts';
import type { Json } from '../../../model/json.ts';
import { evaluateExpression, type Scope } from './evaluate-expression.ts';
import { isMeantAsExpression, parseExpression, type Expression } from './parse-expression.ts';

/** An expression embedded in a longer text. */
const embedded = /\{(\$[^{}]+)\}/g;

/** Every expression in a value, at any depth: its text, and its meaning if it can be parsed. */
export function expressionsIn(value: Json): { text: string; meaning: Expression | undefined }[] {
  if (typeof value === 'string') {
    const written = isMeantAsExpression(value) ? [value] : Array.from(value.matchAll(embedded), ([, text = '']) => text);
    return written.filter(isMeantAsExpression).map((text) => ({ text, meaning: parseExpression(text) }));
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(expressionsIn);
}

/** Fills in all expressions of a value. A property without a value is left out; undefined if the whole has no value. */
export function fillIn(value: Json, scope: Scope): Json | undefined {
  if (typeof value === 'string') return fillInText(value, scope);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => fillIn(item, scope) ?? null);
  const filled = Object.entries(value).map(([name, inner]) => [name, fillIn(inner, scope)] as const);
  return Object.fromEntries(filled.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

/** If the expression is the whole text, with or without braces, its value keeps its type. */
function fillInText(text: string, scope: Scope): Json | undefined {
  const whole = /^\{(\$[^{}]+)\}$/.exec(text)?.[1] ?? text;
  const expression = isMeantAsExpression(whole) ? parseExpression(whole) : undefined;
  if (expression !== undefined) return evaluateExpression(expression, scope);
  return fillInEach(text, scope, plainText);
}

/** Fills in the expressions embedded in a text; `write` formats each value. */
export function fillInEach(text: string, scope: Scope, write: (value: Json) => string): string {
  return text.replaceAll(embedded, (whole, written: string) => {
    const expression = isMeantAsExpression(written) ? parseExpression(written) : undefined;
    if (expression === undefined) return whole;
    const value = evaluateExpression(expression, scope);
    // A text with a gap must not be sent as if it were complete.
    if (value === undefined) throw new CribError('VALIDATION_ERROR', `${whole} has no value here`);
    return write(value);
  });
}

export function plainText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
