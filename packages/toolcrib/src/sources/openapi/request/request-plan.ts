import type { HttpOperation, HttpParameter } from '../../../model/http-operation.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { BuiltRequest } from '../../upstream/http/send-request.ts';
import { argumentOf, argumentText } from './argument-text.ts';
import { badArgument } from './bad-argument.ts';
import { chosenForm } from './chosen-form.ts';
import { expandStyle } from './expand-style.ts';
import { parameterWriter, type ParameterWriter } from './parameter-writer.ts';
import { pathPlan } from './path-plan.ts';
import { percentEncode } from './percent-encode.ts';
import { randomBoundary, writeBody, type MakeBoundary } from './write-body.ts';

/** [HTTP-1] Turns the arguments of one operation into a request. Made once and used for every call. */
export interface RequestPlan {
  /** The only origin that requests are sent to. */
  readonly origin: string;
  build(args: JsonObject, makeBoundary?: MakeBoundary): BuiltRequest;
}

/** OpenAPI ignores header parameters with these names: the headers are described elsewhere. */
const ignored = new Set(['accept', 'content-type', 'authorization']);
/** Headers that could replace the credential of the source. */
const credentialHeaders = new Set(['cookie', 'proxy-authorization']);

const plans = new WeakMap<HttpOperation, RequestPlan>();

export function requestPlan(operation: HttpOperation): RequestPlan {
  let plan = plans.get(operation);
  if (plan === undefined) {
    plan = createPlan(operation);
    plans.set(operation, plan);
  }
  return plan;
}

function createPlan(operation: HttpOperation): RequestPlan {
  const { method, body } = operation;
  const { origin, path, query: fixedQuery } = pathPlan(operation);
  const query = writersOf(operation, (parameter) => parameter.in === 'query' || parameter.in === 'querystring');
  const cookies = writersOf(operation, (parameter) => parameter.in === 'cookie');
  const headerWriters = operation.parameters.filter(isOwnHeader).map((parameter) => {
    const name = parameter.name.toLowerCase();
    const { argument, write } = credentialHeaders.has(name) ? refused(parameter) : lazily(parameter);
    return { name, argument, write };
  });
  const common: Record<string, string> = {
    accept: operation.accept === '' ? '*/*' : operation.accept,
    'user-agent': 'toolcrib',
    ...operation.headers,
  };
  const rest = operation.rest === undefined ? undefined : restWriter(operation);

  return {
    origin,
    build(args, makeBoundary = randomBoundary) {
      const headers = { ...common };
      for (const { name, argument, write } of headerWriters) {
        const value = argumentOf(args, argument);
        const written = value === undefined ? undefined : write(value);
        if (written !== undefined) headers[name] = written;
      }
      if (cookies.length > 0) {
        const cookie = written(cookies, args, '; ', '');
        if (cookie !== '') headers['cookie'] = cookie;
      }
      let target = path(args);
      let asked = query.length === 0 ? fixedQuery : written(query, args, '&', fixedQuery);
      if (rest !== undefined) asked = rest(args, asked);
      if (asked !== '') target += `?${asked}`;
      const given = body === null ? undefined : argumentOf(args, body.argument);
      if (body === null || given === undefined) {
        if (body?.required === true) throw badArgument(body.argument, 'is required');
        return { method, target, headers, body: undefined };
      }
      const { contentType, content } = writeBody(chosenForm(body, given, args), body.argument, given, makeBoundary);
      headers['content-type'] = contentType;
      return { method, target, headers, body: content };
    },
  };
}

function written(writers: readonly ParameterWriter[], args: JsonObject, separator: string, before: string): string {
  let text = before;
  for (const { argument, write } of writers) {
    const value = argumentOf(args, argument);
    const part = value === undefined ? undefined : write(value);
    if (part === undefined || part === '') continue;
    text += text === '' ? part : `${separator}${part}`;
  }
  return text;
}

/** Writes arguments without a parameter of their own as UTCP clients do: `a=1`, `a[]=1`, `a[b]=1`. */
function restWriter({ parameters, body }: HttpOperation): (args: JsonObject, before: string) => string {
  const named = new Set([...parameters.map(({ argument }) => argument), body?.argument, body?.choice?.argument]);
  return (args, before) => {
    const parts = Object.entries(args).flatMap(([argument, value]) => {
      if (named.has(argument)) return [];
      const name = percentEncode(argumentText(argument, argument));
      return expandStyle(value, { argument, name, style: 'deepObject', explode: true, encode: percentEncode }) ?? [];
    });
    return [before, ...parts].filter((part) => part !== '').join('&');
  };
}

function writersOf({ parameters }: HttpOperation, isWanted: (parameter: HttpParameter) => boolean): ParameterWriter[] {
  return parameters.filter(isWanted).map(lazily);
}

function isOwnHeader(parameter: HttpParameter): boolean {
  return parameter.in === 'header' && !ignored.has(parameter.name.toLowerCase());
}

function refused({ argument, name }: HttpParameter): ParameterWriter {
  return {
    argument,
    write() {
      throw badArgument(argument, `cannot be sent: the header ${name} belongs to the credential of the source`);
    },
  };
}

/** A parameter that cannot be written fails only the calls that use it, not the whole operation. */
function lazily(parameter: HttpParameter): ParameterWriter {
  let writer: ParameterWriter | undefined;
  return {
    argument: parameter.argument,
    write(value) {
      writer ??= parameterWriter(parameter);
      return writer.write(value);
    },
  };
}
