import type { Answer, ErrorCode, Origin } from 'toolcrib';

interface ToolcribErrorOptions {
  retryable?: boolean;
  /** How long to wait before the same call may work. */
  retryAfterMs?: number;
  /** The answer of the tool, if it was called. */
  answer?: Answer;
  /** Whose failure it is, if that does not follow from the code. */
  origin?: Origin;
  /** [EXEC-4] The structured content of a failed call; otherwise the underlying error. */
  cause?: unknown;
}

/** A refused or failed call. The message is written for the model that has to act on it. */
export class ToolcribError extends Error {
  override name = 'ToolcribError';
  readonly code: ErrorCode;
  /** Whose failure it is: of the `tool`, its `source`, the `gateway` (Toolcrib) or the `caller`. */
  readonly origin: Origin;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly answer: Answer | undefined;

  constructor(code: ErrorCode, message: string, options: ToolcribErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.origin = options.origin ?? options.answer?.error?.origin ?? (ofGateway.has(code) ? 'gateway' : 'caller');
    this.retryable = options.retryable ?? (code === 'RATE_LIMITED' || code === 'SERVICE_UNAVAILABLE');
    this.retryAfterMs = options.retryAfterMs;
    this.answer = options.answer;
  }
}

/** Codes for which the origin defaults to `gateway`. */
const ofGateway: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['RATE_LIMITED', 'INTERNAL', 'NETWORK_ERROR', 'SERVICE_UNAVAILABLE']);

/** [EXEC-6] UTCP's InvalidRequest: Toolcrib or the tool itself rejected the arguments. */
export class ValidationError extends ToolcribError {
  override name = 'ValidationError';
}

/** UTCP's MethodNotFound: the tool does not exist, or this user may not use it. */
export class ToolNotFoundError extends ToolcribError {
  override name = 'ToolNotFoundError';
}

/** UTCP's InternalError: the tool ran and reported a failure. */
export class ToolCallError extends ToolcribError {
  override name = 'ToolCallError';
}

/** Creates the error class that matches the code. */
export function toolcribError(code: ErrorCode, message: string, options: ToolcribErrorOptions = {}): ToolcribError {
  if (code === 'VALIDATION_ERROR') return new ValidationError(code, message, options);
  if (code === 'NOT_FOUND') return new ToolNotFoundError(code, message, options);
  return options.answer?.error?.origin === 'tool' ? new ToolCallError(code, message, options) : new ToolcribError(code, message, options);
}
