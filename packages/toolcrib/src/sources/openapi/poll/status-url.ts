import { ProtocolError } from '../../../model/named-errors.ts';
import type { HttpOperation } from '../../../model/http-operation.ts';
import type { Json, JsonObject } from '../../../model/json.ts';
import { fieldAt } from './field-at.ts';
import type { OperationAnswer } from './operation-answer.ts';

interface StatusUrlInput {
  operation: HttpOperation;
  template: string | undefined;
  /** The first answer. */
  answer: OperationAnswer;
  args: JsonObject;
}

/**
 * [POLL-1] Where the state of what was begun is asked for; undefined where nobody says. Never outside the origin of the operation: the
 * credential goes with every request.
 */
export function statusUrl({ operation, template, answer, args }: StatusUrlInput): URL | undefined {
  const { server } = operation;
  if (template === undefined) {
    // Where both are there, Location is what will be there in the end, and the other how it is getting on.
    const location = answer.headers['operation-location'] ?? answer.headers['location'];
    return location === undefined || location === '' ? undefined : within(server, location, answer.url);
  }
  const known = (path: string) => fieldAt(answer.output.structured_content, path) ?? fieldAt(args, path);
  const only = /^\{([^{}]+)\}$/.exec(template)?.[1];
  // A field that has the whole address.
  if (only !== undefined) return within(server, textOf(only, known(only)), answer.url);
  const filled = template.replaceAll(/\{([^{}]+)\}/g, (_whole, path: string) => segmentOf(path, known(path)));
  return within(server, filled.startsWith('/') ? `${server}${filled}` : filled, `${server}/`);
}

/** An address that an answer has named, refused where it is on another server. */
export function within(server: string, address: string, base: string): URL {
  const target = URL.parse(address, base);
  const { origin } = new URL(server);
  if (target === null) throw new ProtocolError(`${origin} said where to go on with an address that is none`);
  if (target.origin !== origin || target.username !== '' || target.password !== '') {
    throw new ProtocolError(
      `${origin} said to go on at ${target.origin}, which is another server: nothing is sent there. Set status_url_template to where it can be asked here`,
    );
  }
  target.hash = '';
  return target;
}

function textOf(path: string, value: Json | undefined): string {
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new ProtocolError(`The first answer has no ${path}, which status_url_template wants`);
}

function segmentOf(path: string, value: Json | undefined): string {
  const text = textOf(path, value);
  // These would lead out of the place where the template puts them, even percent-encoded.
  if (text === '.' || text === '..') throw new ProtocolError(`The first answer has ${text} for ${path}, which is no part of an address`);
  return encodeURIComponent(text.toWellFormed());
}
