import { CribError, type CribErrorOptions, type ErrorCode } from './crib-error.ts';

/** [EXEC-6] The one error under the names that users of the library look for. Their codes decide; the names only help a `catch`. */
export class TransportError extends CribError {
  override name = 'TransportError';
}

export class ConnectionError extends TransportError {
  override name = 'ConnectionError';
  constructor(message: string, options?: CribErrorOptions) {
    super('NETWORK_ERROR', message, { retryable: true, ...options });
  }
}

export class ProtocolError extends TransportError {
  override name = 'ProtocolError';
  constructor(message: string, options?: CribErrorOptions) {
    super('SERVICE_UNAVAILABLE', message, { retryable: false, ...options });
  }
}

export class TimeoutError extends TransportError {
  override name = 'TimeoutError';
  constructor(message: string, options?: CribErrorOptions) {
    super('NETWORK_ERROR', message, { retryable: true, ...options });
  }
}

/**
 * [ERR-2] What runs containers cannot be reached, or the container or image that it should use is not there. That says nothing about any
 * server, and is over by itself when it is back.
 */
export class EngineUnavailableError extends CribError {
  override name = 'EngineUnavailableError';
  constructor(message: string, { code = 'SERVICE_UNAVAILABLE', ...options }: CribErrorOptions & { code?: ErrorCode } = {}) {
    super(code, message, options);
  }
}

/**
 * [ID-5] The caller's credential for a server could not be had, so that nothing was sent. That says nothing about the server, and must
 * not hurt others who use it.
 */
export class NoCredentialError extends CribError {
  override name = 'NoCredentialError';
  constructor(code: ErrorCode, message: string, options?: CribErrorOptions) {
    const origin = code === 'UNAUTHENTICATED' || code === 'FORBIDDEN' ? 'caller' : 'gateway';
    super(code, message, { origin, ...options });
  }
}

/** UTCP's InvalidRequest. */
export class ValidationError extends CribError {
  override name = 'ValidationError';
  constructor(message: string, options?: CribErrorOptions) {
    super('VALIDATION_ERROR', message, options);
  }
}

/** UTCP's MethodNotFound. */
export class ToolNotFoundError extends CribError {
  override name = 'ToolNotFoundError';
  constructor(message: string, options?: CribErrorOptions) {
    super('NOT_FOUND', message, options);
  }
}

/** UTCP's InternalError. */
export class ToolCallError extends CribError {
  override name = 'ToolCallError';
  constructor(message: string, options?: CribErrorOptions) {
    super('SERVICE_UNAVAILABLE', message, { retryable: false, ...options });
  }
}
