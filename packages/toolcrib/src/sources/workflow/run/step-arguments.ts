import { CribError } from '../../../model/crib-error.ts';
import { parsedJson, type Json, type JsonObject } from '../../../model/json.ts';
import type { PlannedBody, PlannedStep } from '../../../model/workflow-plan.ts';
import type { Scope } from '../expression/evaluate-expression.ts';
import { fillIn, fillInEach, plainText } from '../expression/fill-in.ts';
import { withReplaced } from '../../../model/json-pointer.ts';

/** The arguments of a step's call. Throws `VALIDATION_ERROR` if they cannot be made. */
export function stepArguments({ parameters, body }: PlannedStep, scope: Scope): { args: JsonObject; body: Json | undefined } {
  const entries = parameters.map(({ argument, value }) => [argument, fillIn(value, scope)] as const);
  const made = body === null ? undefined : bodyOf(body, scope);
  if (body !== null) entries.push([body.argument, made]);
  if (body?.choice !== undefined) entries.push([body.choice.argument, body.choice.content_type]);
  return { args: Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined)), body: made };
}

function bodyOf({ payload, text, replacements }: PlannedBody, scope: Scope): Json | undefined {
  let body = typeof payload === 'string' ? bodyFromText(payload, text, scope) : fillIn(payload, scope);
  for (const { target, value } of replacements) {
    const filled = fillIn(value, scope);
    if (filled === undefined) continue;
    body = withReplaced(body, target, filled);
    if (body === undefined) throw new CribError('VALIDATION_ERROR', `The replacement target ${target} does not fit into the body`);
  }
  return body;
}

/** A filled-in value cannot change the structure of the body: the text is parsed first, or the value is escaped for the body's format. */
function bodyFromText(payload: string, kind: PlannedBody['text'], scope: Scope): Json | undefined {
  const isTemplate = !payload.startsWith('$');
  if (kind === 'json' && isTemplate) {
    const parsed = parsedJson(payload);
    if (parsed !== undefined) return fillIn(parsed, scope);
    return parsedJson(fillInEach(payload, scope, (value) => JSON.stringify(value))) ?? fillIn(payload, scope);
  }
  if (kind === 'form' && isTemplate) return fillIn(formFields(payload), scope);
  if (kind === 'xml' && isTemplate) return fillInEach(payload, scope, (value) => escapeXml(plainText(value)));
  return fillIn(payload, scope);
}

/** A repeated field becomes a list. */
function formFields(text: string): JsonObject {
  const fields = new URLSearchParams(text.trim());
  const names = [...new Set(fields.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const [first = '', ...more] = fields.getAll(name);
      return [name, more.length === 0 ? first : [first, ...more]];
    }),
  );
}

const xmlEscapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => xmlEscapes[character] ?? '');
}
