import { CribError } from '../../model/crib-error.ts';

/** RFC 9110 §5.6.2. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;

/** Those of one connection (RFC 9110 §7.6.1), those that say where the request goes and how long it is, and the session's own. */
const reserved = new Set(
  'connection keep-alive proxy-connection te trailer transfer-encoding upgrade proxy-authenticate proxy-authorization'
    .concat(' host content-length expect mcp-session-id')
    .split(' '),
);

/** Headers without a hyphen in their name that somebody may want to send. */
const plainHeaders = new Set(['authorization', 'cookie', 'origin', 'referer']);

/** [SRC-1] Whether the name of a variable is that of a header, such as `X-API-Key`: no variable of an environment has a hyphen. */
export function isHeaderName(name: string): boolean {
  return name.includes('-') || plainHeaders.has(name.toLowerCase());
}

/** [ENV-5] The header that a variable becomes; undefined for all others, which a remote server is not told. */
export function headerOfVariable(name: string, value: string): [name: string, value: string] | undefined {
  if (name === 'API_KEY') return ['X-API-Key', value];
  if (name === 'BEARER_TOKEN') return ['Authorization', `Bearer ${value}`];
  const [, rest] = /^MCP_HEADER_(.+)$/.exec(name) ?? [];
  return rest === undefined ? undefined : [rest.replaceAll('_', '-'), value];
}

export function checkHeaderName(name: string, field: string): void {
  if (!token.test(name)) throw new CribError('VALIDATION_ERROR', 'This cannot be the name of a header', { field });
  if (reserved.has(name.toLowerCase())) {
    throw new CribError('VALIDATION_ERROR', `The header ${name} belongs to the connection, and no source may set it`, { field });
  }
}

/** The message never repeats the value. */
export function checkHeaderValue(value: string, field: string): void {
  if (/[\r\n]/.test(value)) {
    throw new CribError('VALIDATION_ERROR', 'A header cannot contain a line break: is there one at the end of the secret?', { field });
  }
  // RFC 9110 §5.5; what is beyond one byte cannot be sent.
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    throw new CribError('VALIDATION_ERROR', 'A header cannot contain control characters or letters outside Latin-1', { field });
  }
}
