import type { Answer, ErrorCode } from 'toolcrib';

interface ToolcribErrorOptions {
  retryable?: boolean;
  /** How long to wait before the same call may work. */
  retryAfterMs?: number;
  /** What the tool answered, where it was asked. */
  answer?: Answer;
  /** [EXEC-4] The whole structured content of a failed call; otherwise what went wrong underneath. */
  cause?: unknown;
}

/** A call that was refused or failed. Its message is written for the model that has to act on it. */
export class ToolcribError extends Error {
  override name = 'ToolcribError';
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly answer: Answer | undefined;

  constructor(code: ErrorCode, message: string, options: ToolcribErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? (code === 'RATE_LIMITED' || code === 'SERVICE_UNAVAILABLE');
    this.retryAfterMs = options.retryAfterMs;
    this.answer = options.answer;
  }
}
