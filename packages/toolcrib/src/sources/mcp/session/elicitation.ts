import type { JsonObject } from '../../../model/json.ts';
import type { Exchange } from './exchange.ts';
import { isObject } from './requests.ts';

/** The part of a question that we take: a form, with a message and a schema. */
export function isForm(params: unknown): params is JsonObject {
  return isObject(params) && typeof params['message'] === 'string' && (params['mode'] ?? 'form') === 'form';
}

/** [MCP-13] Puts a server's question to whoever made the call; without somebody to ask it is declined. */
export async function answerQuestion(params: JsonObject, call: Exchange | undefined): Promise<JsonObject> {
  if (call?.onElicit === undefined) return { action: 'decline' };
  try {
    const answer = await call.whileAsking(call.onElicit(params));
    if (answer['action'] !== 'accept') return { action: answer['action'] === 'cancel' ? 'cancel' : 'decline' };
    const content = isObject(answer['content']) ? answer['content'] : {};
    return { action: 'accept', content: withDefaults(params['requestedSchema'], content) };
  } catch {
    // Whoever was asked has gone away, which is not the same as a no.
    return { action: 'cancel' };
  }
}

/** SEP-1034: what the person left out has the value the form suggested. Forms are flat, so there is nothing to descend into. */
function withDefaults(schema: unknown, content: JsonObject): JsonObject {
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  const suggested = Object.entries(properties).flatMap(([name, property]) =>
    isObject(property) && property['default'] !== undefined ? [[name, property['default']] as const] : [],
  );
  return { ...Object.fromEntries(suggested), ...content };
}
