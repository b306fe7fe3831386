import type { Json } from './json.ts';

/** [EXEC-6] Every code the API answers with, and the HTTP status that goes with it. `docs/errors.md` lists exactly these. */
export const httpStatusByCode = {
  VALIDATION_ERROR: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  NETWORK_ERROR: 502,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof httpStatusByCode;

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

  constructor(code: ErrorCode, message: string, options: CribErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.field = options.field;
    this.retryable = options.retryable ?? (code === 'RATE_LIMITED' || code === 'SERVICE_UNAVAILABLE');
    this.retryAfterMs = options.retryAfterMs;
    this.upstreamStatus = options.upstreamStatus;
    this.details = options.details;
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
