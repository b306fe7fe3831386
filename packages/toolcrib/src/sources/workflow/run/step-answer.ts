import { UnknownOutcomeError } from '../../../durable/unknown-outcome-error.ts';
import type { Answer } from '../../../model/call.ts';
import { CribError } from '../../../model/crib-error.ts';
import type { ErrorCode } from '../../../model/error-code.ts';
import type { Json, JsonObject } from '../../../model/json.ts';
import { originOfRefusal, type Origin } from '../../../model/origin.ts';
import type { PlannedStep, PlannedToolCall } from '../../../model/workflow-plan.ts';
import type { Exchange } from '../expression/evaluate-expression.ts';

/** What is remembered of a step that called a tool. */
export interface StepAnswer extends JsonObject {
  call_id: string | null;
  ok: boolean;
  /** Null where there was no answer. */
  status: number | null;
  headers: JsonObject;
  body: Json;
  /** Why it failed. */
  message: string | null;
  code: ErrorCode | null;
  /** Whose failure it was. */
  origin: Origin | null;
}

/** A status that is no success is nothing exceptional for a workflow: its criteria decide. Throws where nobody can decide. */
export function stepAnswerOf(answer: Answer, keepsBody: boolean): StepAnswer {
  const { call_id, success, status, error, metadata } = answer;
  if (status === 'unknown') throw new UnknownOutcomeError(error?.message ?? 'Nobody knows whether it took effect');
  if (status === 'cancelled') throw new CribError('SERVICE_UNAVAILABLE', 'The call was cancelled', { retryable: false, origin: 'caller' });
  if (!success) {
    const { code = 'INTERNAL', message = '', origin = 'gateway', upstream_status = null, details } = error ?? {};
    const { headers, body: said = null } = asObject(details);
    const body = keepsBody ? said : null;
    return { call_id, ok: false, status: upstream_status, headers: lowerCased(asObject(headers)), body, message, code, origin };
  }
  const http = asObject(metadata['http']);
  const headers = lowerCased(asObject(http['headers']));
  const answered = typeof http['status'] === 'number' ? http['status'] : 200;
  // What is decided by half of an answer is decided wrongly.
  const isCut = keepsBody && metadata['truncated'] === true;
  const message = isCut ? 'its answer was longer than is allowed here, and was cut' : null;
  const body = keepsBody ? (answer.structured_content ?? (answer.text === '' ? null : answer.text)) : null;
  return {
    call_id,
    ok: !isCut,
    status: isCut ? null : answered,
    headers,
    body,
    message,
    code: isCut ? 'PAYLOAD_TOO_LARGE' : null,
    origin: isCut ? 'gateway' : null,
  };
}

/** A call that was refused, or that could not be made. */
export function refusedAnswer(error: CribError): StepAnswer {
  const { code, message } = error;
  return { call_id: null, ok: false, status: null, headers: {}, body: null, message, code, origin: originOfRefusal(error) };
}

/** Whether anything in the step is about the body of its answer, which is not remembered otherwise. */
export function readsBody(step: PlannedStep): boolean {
  return JSON.stringify(step).includes('$response.body');
}

/** Whether the step looks at a redirect itself: it would see nothing of one that was followed. */
export function readsRedirect(step: PlannedStep): boolean {
  return /\$response\.header\.location|\$statusCode[^&|]{0,9}3\d\d/i.test(JSON.stringify(step));
}

export function exchangeOf(
  call: PlannedToolCall,
  step: PlannedStep,
  { args, body, answer }: { args: JsonObject; body: Json | undefined; answer: StepAnswer },
): Exchange {
  const given = (place: 'path' | 'query' | 'header') =>
    step.parameters
      .filter((one) => one.in === place)
      .flatMap(({ name, argument }): [string, Json][] => {
        const value = args[argument];
        return value === undefined ? [] : [[place === 'header' ? name.toLowerCase() : name, value]];
      });
  const path: JsonObject = Object.fromEntries(given('path'));
  const query = given('query');
  return {
    method: call.method,
    url: addressOf(call.url, path, query),
    request: { header: { ...call.headers, ...Object.fromEntries(given('header')) }, query: Object.fromEntries(query), path, body },
    status: answer.status,
    headers: answer.headers,
    body: answer.body,
  };
}

/** As it would be written for single values; it is only read, never asked. */
function addressOf(template: string, path: JsonObject, query: [string, Json][]): string {
  const address = template.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) =>
    Object.hasOwn(path, name) ? encodeURIComponent(written(path[name])) : whole,
  );
  const fields = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(written(value))}`);
  return fields.length === 0 ? address : `${address}?${fields.join('&')}`;
}

function written(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function lowerCased(headers: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function asObject(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
