import type { ToolOutput } from '../../../model/call.ts';
import type { Json } from '../../../model/json.ts';
import type { PollProfile } from '../../../model/poll-profile.ts';
import { fieldAt } from './field-at.ts';
import type { OperationAnswer } from './operation-answer.ts';
import { retryAfterOf } from '../../upstream/http/retry-after.ts';

/** The outcome of one poll. It is journaled as it is, so it holds only what the next step needs. */
export type Look = Ended | Waiting;

export interface Ended {
  kind: 'ended';
  output: ToolOutput;
}

export interface Waiting {
  kind: 'waiting';
  /** In the service's words. */
  state: string;
  /** Null if the service could not be reached, or failed. */
  status: number | null;
  /** From the Retry-After header; null if the service sent none. */
  pause_ms: number | null;
}

const longestState = 100;

/** [POLL-1] Evaluates the state in a response; undefined if the response has none. */
export function lookAt({ status, headers, output }: OperationAnswer, profile: PollProfile): Look | undefined {
  const state = fieldAt(output.structured_content, profile.status_field_path);
  if (state === undefined) return undefined;
  if (isAmong(state, profile.completed_values)) return finished(output, profile);
  if (isAmong(state, profile.failed_values)) return { kind: 'ended', output: { ...output, is_error: true } };
  const text = typeof state === 'string' ? state : JSON.stringify(state);
  return waiting(text.slice(0, longestState).toWellFormed(), { status, headers });
}

export function waiting(state: string, { status, headers }: Pick<OperationAnswer, 'status' | 'headers'>): Waiting {
  return { kind: 'waiting', state, status, pause_ms: retryAfterOf(headers['retry-after'], Date.now()) ?? null };
}

/** [POLL-1] Ends with the result part of the last response, or with the whole response if that part is missing. */
export function finished(output: ToolOutput, { result_field_path: path }: PollProfile): Ended {
  const value = path === undefined ? undefined : fieldAt(output.structured_content, path);
  if (value === undefined) return { kind: 'ended', output };
  const { structured_content: _whole, ...rest } = output;
  if (typeof value === 'string') return { kind: 'ended', output: { ...rest, content: [{ type: 'text', text: value }] } };
  return { kind: 'ended', output: { ...rest, content: [{ type: 'text', text: JSON.stringify(value) }], structured_content: value } };
}

function isAmong(state: Json, values: PollProfile['completed_values']): boolean {
  const folded = (value: Json) => (typeof value === 'string' ? value.toLowerCase() : value);
  return values.some((value) => folded(value) === folded(state));
}
