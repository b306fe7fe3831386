import type { HttpOperation } from '../../../model/http-operation.ts';
import type { JsonObject } from '../../../model/json.ts';
import { CribError } from '../../../model/crib-error.ts';
import { argumentOf } from './argument-text.ts';
import { badArgument } from './bad-argument.ts';
import { parameterWriter, type ParameterWriter } from './parameter-writer.ts';

export interface PathPlan {
  origin: string;
  path(args: JsonObject): string;
  /** Of a path that has a query of its own, as some documents write it. */
  query: string;
}

/**
 * A segment of one or two dots, however it is written, leads to another place than the document says. Servers differ in what ends a segment
 * for them: encoded slashes, backslashes and semicolons do for some.
 */
const dotSegment = /(?:^|\/|\\|%2f|%5c)(?:\.|%2e){1,2}(?=$|\/|\\|;|%2f|%5c|%3b)/i;

/** [HTTP-1] The template of an operation's path, taken apart once. */
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
      // Without it the path would be that of another operation.
      if (written === undefined || written === '') throw badArgument(part.argument, 'cannot be empty: it is a part of the path');
      path += written;
    }
  }
  if (last !== undefined && dotSegment.test(path))
    throw badArgument(last.argument, 'would lead to another path: "." and ".." cannot be sent');
  return path;
}

/** What stands in the document, without what no address can have in it. */
function legal(text: string): string {
  return text.replaceAll(/[^\w.~:/?@!$&'()*+,;=%-]/gu, (sign) => encodeURIComponent(sign.toWellFormed()));
}
