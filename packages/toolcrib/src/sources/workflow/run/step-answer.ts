import { UnknownOutcomeError } from '../../../durable/unknown-outcome-error.ts';
import type { Answer } from '../../../model/call.ts';
import { CribError } from '../../../model/crib-error.ts';
import type { ErrorCode } from '../../../model/error-code.ts';
import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import { originOfRefusal, type Origin } from '../../../model/origin.ts';
import type { PlannedStep, PlannedToolCall } from '../../../model/workflow-plan.ts';
import type { Exchange } from '../expression/evaluate-expression.ts';

/** The stored result of a step that called a tool. */
export interface StepAnswer extends JsonObject {
  call_id: string | null;
  ok: boolean;
  /** Null if there was no response. */
  status: number | null;
  headers: JsonObject;
  body: Json;
  /** Why it failed. */
  message: string | null;
  code: ErrorCode | null;
  /** Whose failure it was. */
  origin: Origin | null;
}

/** An error status does not throw: the criteria of the step decide. Throws if the outcome is unknown or the call was cancelled. */
export function stepAnswerOf(answer: Answer, keepsBody: boolean): StepAnswer {
  const { call_id, success, status, error, metadata } = answer;
  if (status === 'unknown') throw new UnknownOutcomeError(error?.message ?? 'It is unknown whether the call took effect');
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
  // Criteria must not decide on a truncated answer.
  const isCut = keepsBody && metadata['truncated'] === true;
  const message = isCut ? 'its answer was too long and was truncated' : null;
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

/** The answer for a call that was refused, or that could not be made. */
export function refusedAnswer(error: CribError): StepAnswer {
  const { code, message } = error;
  return { call_id: null, ok: false, status: null, headers: {}, body: null, message, code, origin: originOfRefusal(error) };
}

/** Whether the step refers to the response body, which is otherwise not stored. */
export function readsBody(step: PlannedStep): boolean {
  return JSON.stringify(step).includes('$response.body');
}

/** Whether the step inspects a redirect itself, so that the redirect must not be followed. */
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

/** The address with its parameters, each written as a single value. Only expressions use it; no request is sent to it. */
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
  return isObject(value) ? value : {};
}
