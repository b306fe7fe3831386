import { CribError } from '../../model/crib-error.ts';

/** RFC 9110 §5.6.2. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;

/** Headers of one connection (RFC 9110 §7.6.1), headers for the target and length of a request, and the header of the session. */
const reserved = new Set(
  'connection keep-alive proxy-connection te trailer transfer-encoding upgrade proxy-authenticate proxy-authorization'
    .concat(' host content-length expect mcp-session-id')
    .split(' '),
);

/** Headers without a hyphen in their name that a source may want to send. */
const plainHeaders = new Set(['authorization', 'cookie', 'origin', 'referer']);

/** [SRC-1] Whether a variable's name is that of a header, such as `X-API-Key`: environment variables have no hyphens. */
export function isHeaderName(name: string): boolean {
  return name.includes('-') || plainHeaders.has(name.toLowerCase());
}

/** [ENV-5] The header that a variable becomes; undefined for other variables, which are not sent to a remote server. */
export function headerOfVariable(name: string, value: string): [name: string, value: string] | undefined {
  if (name === 'API_KEY') return ['X-API-Key', value];
  if (name === 'BEARER_TOKEN') return ['Authorization', `Bearer ${value}`];
  const [, rest] = /^MCP_HEADER_(.+)$/.exec(name) ?? [];
  return rest === undefined ? undefined : [rest.replaceAll('_', '-'), value];
}

export function checkHeaderName(name: string, field: string): void {
  if (!token.test(name)) throw new CribError('VALIDATION_ERROR', 'This is not a valid header name', { field });
  if (reserved.has(name.toLowerCase())) {
    throw new CribError('VALIDATION_ERROR', `The header ${name} belongs to the connection: no source may set it`, { field });
  }
}

/** The message never repeats the value. */
export function checkHeaderValue(value: string, field: string): void {
  if (/[\r\n]/.test(value)) {
    throw new CribError('VALIDATION_ERROR', 'A header cannot contain a line break: is there one at the end of the secret?', { field });
  }
  // RFC 9110 §5.5. Characters beyond one byte cannot be sent.
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    throw new CribError('VALIDATION_ERROR', 'A header cannot contain control characters or characters outside Latin-1', { field });
  }
}
