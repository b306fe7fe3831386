import { acceptedContent, type InputRequest, type ServerContext } from '@modelcontextprotocol/server';

type Schema = Record<string, unknown>;

/** Asks the user to fill in a form. */
export function form(message: string, properties: Record<string, Schema>, required = Object.keys(properties)): InputRequest {
  const requestedSchema = { type: 'object', properties, ...(required.length > 0 && { required }) };
  // The SDK's type has no room for every form of an enum, which its wire has.
  return { method: 'elicitation/create', params: { message, requestedSchema } } as InputRequest;
}

/** Asks the client's model. */
export function sample(prompt: string, maxTokens = 100): InputRequest {
  const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: prompt } }];
  return { method: 'sampling/createMessage', params: { messages, maxTokens } };
}

/** Asks the client for its roots. */
export const roots: InputRequest = { method: 'roots/list', params: {} };

/** What the user filled in, if the form was accepted. */
export function filledIn({ inputResponses }: ServerContext['mcpReq'], key: string): Record<string, unknown> | undefined {
  return acceptedContent(inputResponses, key);
}

/** What came back for a request, whatever it was. */
export function answerOf({ inputResponses }: ServerContext['mcpReq'], key: string): Record<string, unknown> | undefined {
  return inputResponses?.[key] as Record<string, unknown> | undefined;
}
