import type { BodyForm, HttpOperation, HttpRequestBody } from '../../../model/http-operation.ts';
import type { PlannedBody, PlannedParameter, PlannedToolCall } from '../../../model/workflow-plan.ts';
import type { ArazzoParameter, ArazzoStep } from '../document/arazzo-document.ts';
import { Unsupported } from '../unsupported.ts';
import type { OperationTool } from './bind-operation.ts';

/** The tool call of a step, complete, so that running the step needs no look at the tool. */
export function planToolCall(
  { tool_id, operation, execution_mode, definition }: OperationTool,
  given: PlannedParameter[],
  body: PlannedBody | null,
): PlannedToolCall {
  const { annotations } = definition;
  const key = operation.parameters.find((one) => one.in === 'header' && /^(?:x-)?idempotency-key$/i.test(one.name));
  const isKeyGiven = given.some(({ argument }) => argument === key?.argument);
  const isReadOnly = annotations?.['readOnlyHint'] === true;
  const contentType = body?.choice?.content_type ?? operation.body?.content_type;
  const isHarmless = isReadOnly || annotations?.['idempotentHint'] === true;
  return {
    tool_id,
    read_only: isReadOnly,
    // A repeated `async_poll` call resumes where it was, and a call with an idempotency key takes effect once.
    repeatable: isHarmless || execution_mode === 'async_poll' || key !== undefined,
    key_argument: key === undefined || isKeyGiven ? null : key.argument,
    method: operation.method,
    url: `${operation.server}${operation.path}`,
    headers: { accept: operation.accept, ...(contentType === undefined ? {} : { 'content-type': contentType }) },
  };
}

/** OpenAPI does not allow these headers as parameters, and the source decides which credential is sent. */
const ignored = new Set(['accept', 'content-type', 'authorization']);

/** Maps the parameters to arguments of the tool. Warns of parameters that are ignored or missing. */
export function planParameters(
  parameters: readonly ArazzoParameter[],
  operation: HttpOperation,
  warn: (message: string) => void,
): PlannedParameter[] {
  const planned = parameters.flatMap(({ name, in: place, value }): PlannedParameter[] => {
    if (place === undefined) throw new Unsupported(`parameter ${name} needs the field in: path, query, header or cookie`);
    const isHeader = place === 'header';
    const found = operation.parameters.find((one) => one.in === place && sameName(one.name, name, isHeader));
    if (found !== undefined) return [{ argument: found.argument, name, in: place, value }];
    if (!isHeader || !ignored.has(name.toLowerCase())) {
      throw new Unsupported(`${operation.method} ${operation.path} has no parameter ${name} in ${place}; ${known(operation)}`);
    }
    warn(`the header ${name} is ignored: the source sends its own`);
    return [];
  });
  const given = new Set(planned.map(({ argument }) => argument));
  for (const { argument, name, in: place, required } of operation.parameters)
    if (required && !given.has(argument))
      warn(`${operation.method} ${operation.path} needs parameter ${name} in ${place}, which is not given`);
  return planned;
}

function sameName(one: string, other: string, isHeader: boolean): boolean {
  return one === other || (isHeader && one.toLowerCase() === other.toLowerCase());
}

function known({ parameters }: HttpOperation): string {
  return parameters.length === 0 ? 'it has none' : `it has ${parameters.map(({ name, in: place }) => `${name} (${place})`).join(', ')}`;
}

export function planBody(body: ArazzoStep['requestBody'], operation: HttpOperation): PlannedBody | null {
  if (body === undefined) return null;
  const { contentType, payload = {}, replacements } = body;
  if (body.payload === undefined && replacements.length === 0) return null;
  if (operation.body === null) throw new Unsupported(`${operation.method} ${operation.path} takes no body`);
  const { argument, choice } = operation.body;
  const form = contentType === undefined ? operation.body : formOf(operation.body, contentType);
  if (form === undefined) {
    const types = (choice?.forms ?? [operation.body]).map((one) => one.content_type).join(', ');
    throw new Unsupported(`${operation.method} ${operation.path} takes a body of ${types}, not ${contentType}`);
  }
  const text = textKind(form);
  // A target that begins with two slashes is a valid pointer, but is meant as an XPath.
  const other = replacements.find(({ target }) => (text !== 'json' && text !== 'form') || !/^(?:$|\/(?!\/))/.test(target));
  if (other !== undefined) throw new Unsupported(`the target ${other.target} is not a JSON Pointer into this body; XPath is not supported`);
  const chosen =
    choice === undefined || contentType === undefined ? {} : { choice: { argument: choice.argument, content_type: form.content_type } };
  return { argument, text, payload, replacements, ...chosen };
}

function formOf(body: HttpRequestBody, contentType: string): BodyForm | undefined {
  return (body.choice?.forms ?? [body]).find(({ content_type }) => essence(content_type) === essence(contentType));
}

function textKind({ kind, content_type }: BodyForm): PlannedBody['text'] {
  if (kind === 'json' || kind === 'form') return kind;
  return /[/+]xml$/.test(essence(content_type)) ? 'xml' : 'text';
}

function essence(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase();
}
