import type { Answer, ErrorCode, Origin } from 'toolcrib';

interface ToolcribErrorOptions {
  retryable?: boolean;
  /** How long to wait before the same call may work. */
  retryAfterMs?: number;
  /** What the tool answered, where it was asked. */
  answer?: Answer;
  /** Whose failure it is, where that does not follow from the code. */
  origin?: Origin;
  /** [EXEC-4] The whole structured content of a failed call; otherwise what went wrong underneath. */
  cause?: unknown;
}

/** A call that was refused or failed. Its message is written for the model that has to act on it. */
export class ToolcribError extends Error {
  override name = 'ToolcribError';
  readonly code: ErrorCode;
  /** Whose failure it is: the `tool`'s own, its `source`'s, the `gateway`'s, which is Toolcrib, or the `caller`'s. */
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

/** Of a request that Toolcrib refused, or that did not reach it. */
const ofGateway: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['RATE_LIMITED', 'INTERNAL', 'NETWORK_ERROR', 'SERVICE_UNAVAILABLE']);

/** [EXEC-6] UTCP's InvalidRequest: the arguments do not fit, as Toolcrib or the tool itself says. */
export class ValidationError extends ToolcribError {
  override name = 'ValidationError';
}

/** UTCP's MethodNotFound: the tool is not there, or not for this user. */
export class ToolNotFoundError extends ToolcribError {
  override name = 'ToolNotFoundError';
}

/** UTCP's InternalError: the tool was asked and says that it failed. */
export class ToolCallError extends ToolcribError {
  override name = 'ToolCallError';
}

/** The error under the name that says what went wrong. */
export function toolcribError(code: ErrorCode, message: string, options: ToolcribErrorOptions = {}): ToolcribError {
  if (code === 'VALIDATION_ERROR') return new ValidationError(code, message, options);
  if (code === 'NOT_FOUND') return new ToolNotFoundError(code, message, options);
  return options.answer?.error?.origin === 'tool' ? new ToolCallError(code, message, options) : new ToolcribError(code, message, options);
}
