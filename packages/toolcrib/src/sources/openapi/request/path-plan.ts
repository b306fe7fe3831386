import type { HttpOperation } from '../../../model/http-operation.ts';
import type { JsonObject } from '../../../model/json.ts';
import { CribError } from '../../../model/crib-error.ts';
import { argumentOf } from './argument-text.ts';
import { badArgument } from './bad-argument.ts';
import { parameterWriter, type ParameterWriter } from './parameter-writer.ts';

export interface PathPlan {
  origin: string;
  path(args: JsonObject): string;
  /** The query in the path itself, which some documents have. */
  query: string;
}

/**
 * A dot segment, however it is encoded, would lead to another path than the document's. For some servers, encoded slashes, backslashes and
 * semicolons end a segment, too.
 */
const dotSegment = /(?:^|\/|\\|%2f|%5c)(?:\.|%2e){1,2}(?=$|\/|\\|;|%2f|%5c|%3b)/i;

/** [HTTP-1] Splits the path template of an operation, once for all calls. */
export function pathPlan(operation: HttpOperation): PathPlan {
  const server = URL.parse(operation.server);
  if (server === null || !/^https?:$/.test(server.protocol)) {
    throw new CribError('SERVICE_UNAVAILABLE', 'The server of this operation has no usable address: set server_url', { retryable: false });
  }
  const [withQuery = ''] = operation.path.split('#', 1);
  const [template = '', query = ''] = withQuery.split(/\?(.*)/s, 2);
  const base = server.pathname.replace(/\/+$/, '');
  const writers = new Map(
    operation.parameters.filter((parameter) => parameter.in === 'path').map((parameter) => [parameter.name, parameter]),
  );
  const parts: (string | ParameterWriter)[] = [];
  for (const [index, part] of `${base}${template.startsWith('/') ? '' : '/'}${template}`.split(/\{([^{}/]+)\}/).entries()) {
    const parameter = index % 2 === 1 ? writers.get(part) : undefined;
    if (parameter !== undefined) parts.push(parameterWriter(parameter));
    else parts.push(legal(index % 2 === 1 ? `{${part}}` : part));
  }
  return { origin: server.origin, query: legal(query), path: (args) => fill(parts, args) };
}

function fill(parts: readonly (string | ParameterWriter)[], args: JsonObject): string {
  let path = '';
  let last: ParameterWriter | undefined;
  for (const part of parts) {
    if (typeof part === 'string') path += part;
    else {
      last = part;
      const value = argumentOf(args, part.argument);
      const written = value === undefined ? undefined : part.write(value);
      // Without the value, the path would be that of another operation.
      if (written === undefined || written === '') throw badArgument(part.argument, 'cannot be empty: it is a part of the path');
      path += written;
    }
  }
  if (last !== undefined && dotSegment.test(path))
    throw badArgument(last.argument, 'would lead to another path: "." and ".." cannot be sent');
  return path;
}

/** Percent-encodes characters of the document that are not legal in a URL. */
function legal(text: string): string {
  return text.replaceAll(/[^\w.~:/?@!$&'()*+,;=%-]/gu, (sign) => encodeURIComponent(sign.toWellFormed()));
}
