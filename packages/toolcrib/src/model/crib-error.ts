import type { Answer } from './call.ts';
import { httpStatusByCode, type ErrorCode } from './error-code.ts';
import type { Json } from './json.ts';
import type { Origin } from './origin.ts';

export { httpStatusByCode, type ErrorCode };

export interface CribErrorOptions {
  /** The input field at fault, as a path such as `arguments.city`. */
  field?: string;
  /** Whether the same call may work later without being changed. */
  retryable?: boolean;
  /** How long to wait before that, sent as `Retry-After`. */
  retryAfterMs?: number;
  /** The status an upstream answered with, where there is one. */
  upstreamStatus?: number;
  details?: Json;
  /** The message without the last lines of a program, where it quotes some: for readers who have them already. */
  summary?: string | undefined;
  /** Those lines. */
  lastWords?: readonly string[] | undefined;
  /** Whose failure it is, where that does not follow from the code and from when it happened. */
  origin?: Origin;
  /** The answer of the failed call, where it was made. */
  answer?: Answer;
  cause?: unknown;
}

/** The one error of Toolcrib. Its message is written for the person or model that has to act on it. */
export class CribError extends Error {
  override name = 'CribError';
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly upstreamStatus: number | undefined;
  readonly details: Json | undefined;
  readonly summary: string | undefined;
  readonly lastWords: readonly string[] | undefined;
  readonly answer: Answer | undefined;
  /** May be set later, where it becomes known. Read it with `originOfRefusal` or `originOfFailure`. */
  origin: Origin | undefined;

  constructor(code: ErrorCode, message: string, options: CribErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.field = options.field;
    this.retryable = options.retryable ?? (code === 'RATE_LIMITED' || code === 'SERVICE_UNAVAILABLE');
    this.retryAfterMs = options.retryAfterMs;
    this.upstreamStatus = options.upstreamStatus;
    this.details = options.details;
    this.summary = options.summary;
    this.lastWords = options.lastWords;
    this.answer = options.answer;
    this.origin = options.origin;
  }

  get httpStatus(): number {
    return httpStatusByCode[this.code];
  }

  /** The body every refused request is answered with: `{code, message, field?}`. */
  toJSON(): { code: ErrorCode; message: string; field?: string } {
    const body: { code: ErrorCode; message: string; field?: string } = { code: this.code, message: this.message };
    if (this.field !== undefined) body.field = this.field;
    return body;
  }
}
