import { ProtocolError } from '../../../model/named-errors.ts';
import type { HttpOperation } from '../../../model/http-operation.ts';
import type { Json, JsonObject } from '../../../model/json.ts';
import { fieldAt } from './field-at.ts';
import type { OperationAnswer } from './operation-answer.ts';

interface StatusUrlInput {
  operation: HttpOperation;
  template: string | undefined;
  /** The first response. */
  answer: OperationAnswer;
  args: JsonObject;
}

/**
 * [POLL-1] The address to poll; undefined if neither the profile nor the response names one. Never outside the operation's origin, because
 * every request carries the credential.
 */
export function statusUrl({ operation, template, answer, args }: StatusUrlInput): URL | undefined {
  const { server } = operation;
  if (template === undefined) {
    // If both headers are present, Operation-Location is the status and Location the final result.
    const location = answer.headers['operation-location'] ?? answer.headers['location'];
    return location === undefined || location === '' ? undefined : within(server, location, answer.url);
  }
  const known = (path: string) => fieldAt(answer.output.structured_content, path) ?? fieldAt(args, path);
  const only = /^\{([^{}]+)\}$/.exec(template)?.[1];
  // The field holds the whole address.
  if (only !== undefined) return within(server, textOf(only, known(only)), answer.url);
  const filled = template.replaceAll(/\{([^{}]+)\}/g, (_whole, path: string) => segmentOf(path, known(path)));
  return within(server, filled.startsWith('/') ? `${server}${filled}` : filled, `${server}/`);
}

/** Parses an address from a response. Throws if the address is on another server. */
export function within(server: string, address: string, base: string): URL {
  const target = URL.parse(address, base);
  const { origin } = new URL(server);
  if (target === null) throw new ProtocolError(`${origin} named an invalid address to poll. Set or correct status_url_template`);
  if (target.origin !== origin || target.username !== '' || target.password !== '') {
    throw new ProtocolError(
      `${origin} named an address to poll on another server, ${target.origin}: nothing is sent there. Set status_url_template to an address on ${origin}`,
    );
  }
  target.hash = '';
  return target;
}

function textOf(path: string, value: Json | undefined): string {
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new ProtocolError(`status_url_template needs ${path}, but neither the first response nor the arguments have it`);
}

function segmentOf(path: string, value: Json | undefined): string {
  const text = textOf(path, value);
  // A dot segment would change the path, even percent-encoded.
  if (text === '.' || text === '..')
    throw new ProtocolError(`The value of ${path} for status_url_template is ${text}, which cannot be part of an address`);
  return encodeURIComponent(text.toWellFormed());
}
