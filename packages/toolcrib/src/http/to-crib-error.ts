import { z } from 'zod';
import { CribError, type ErrorCode } from '../model/crib-error.ts';
import { deepestIssue } from '../model/deepest-issue.ts';
import { storageTrouble } from '../store/storage-trouble.ts';

/** Turns anything thrown while serving a request into the error for the caller; `undefined` means a bug in Toolcrib. */
export function toCribError(error: unknown): CribError | undefined {
  if (error instanceof CribError) return error;
  if (error instanceof z.ZodError) return validationError(error);
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  if (typeof code === 'string' && typeof statusCode === 'number' && statusCode < 500)
    return fromFramework(code, statusCode, error as Error);
  const trouble = storageTrouble(error);
  return trouble === undefined ? undefined : new CribError('SERVICE_UNAVAILABLE', `${trouble} Try again later.`, { cause: error });
}

/** [SRC-4] Top-level fields in files of other clients. */
const ofOthers = new Set(['mcpServers', 'call_template_type', 'manual_call_templates', 'utcp_version', 'manual_version']);

export function validationError(error: z.ZodError): CribError {
  const issue = deepestIssue(error.issues[0]);
  if (issue === undefined) return new CribError('VALIDATION_ERROR', 'The input does not fit');
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    const field = [...path, issue.keys[0] ?? ''].join('.').slice(0, 500);
    const hint = path.length === 0 && issue.keys.some((key) => ofOthers.has(key)) ? '. POST /api/sources/import takes this as it is' : '';
    return new CribError('VALIDATION_ERROR', `${field} is not a field of this request${hint}`, { field });
  }
  const field = path.join('.').slice(0, 500);
  return field === ''
    ? new CribError('VALIDATION_ERROR', issue.message)
    : new CribError('VALIDATION_ERROR', `${field}: ${issue.message}`, { field });
}

function fromFramework(code: string, statusCode: number, error: Error): CribError {
  if (statusCode === 413)
    return new CribError('PAYLOAD_TOO_LARGE', 'The body is too large: send less, or raise the limit with --body-limit');
  if (statusCode === 415) return new CribError('VALIDATION_ERROR', 'Send the body as application/json', { field: 'Content-Type' });
  const byStatus: Record<number, ErrorCode> = { 404: 'NOT_FOUND', 409: 'CONFLICT', 429: 'RATE_LIMITED' };
  // The framework's message repeats the whole address, however long.
  if (code === 'FST_ERR_BAD_URL' || code === 'FST_ERR_MAX_PARAM_LENGTH')
    return new CribError('VALIDATION_ERROR', 'The address has a part that is too long or badly encoded');
  return new CribError(byStatus[statusCode] ?? 'VALIDATION_ERROR', error.message, { cause: error });
}
