import { isObject, type JsonObject } from '../../../model/json.ts';
import type { Exchange } from './exchange.ts';

/** The kind of question that we accept: a form, with a message and a schema. */
export function isForm(params: unknown): params is JsonObject {
  return isObject(params) && typeof params['message'] === 'string' && (params['mode'] ?? 'form') === 'form';
}

/** [MCP-13] Puts a server's question to the caller; declines it where nobody can be asked. */
export async function answerQuestion(params: JsonObject, call: Exchange | undefined, key?: string): Promise<JsonObject> {
  const asked = call?.ask(params, key);
  if (call === undefined || asked === undefined) return { action: 'decline' };
  try {
    const answer = await call.whileAsking(asked);
    if (answer['action'] !== 'accept') return { action: answer['action'] === 'cancel' ? 'cancel' : 'decline' };
    const content = isObject(answer['content']) ? answer['content'] : {};
    return { action: 'accept', content: withDefaults(params['requestedSchema'], content) };
  } catch {
    // The person who was asked has gone away, which is not a refusal.
    return { action: 'cancel' };
  }
}

/** SEP-1034: fields that the person left out get the form's defaults. Forms are flat. */
function withDefaults(schema: unknown, content: JsonObject): JsonObject {
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  const suggested = Object.entries(properties).flatMap(([name, property]) =>
    isObject(property) && property['default'] !== undefined ? [[name, property['default']] as const] : [],
  );
  return { ...Object.fromEntries(suggested), ...content };
}
