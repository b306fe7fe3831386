import type { HttpOperation, HttpParameter } from '../../../model/http-operation.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { PollProfile } from '../../../model/poll-profile.ts';
import type { DiscoveredTool } from '../../../model/tool.ts';
import { findAnswers } from './answers.ts';
import { argumentNames } from './argument-names.ts';
import { inputSchema } from './input-schema.ts';
import { cut, listAt, own, textAt, type Node } from '../../documents/node.ts';
import type { OpenDocument } from './open-document.ts';
import type { FoundOperation } from './operations.ts';
import { outputSchema } from './output-schema.ts';
import { findPagination } from './pagination.ts';
import { findParameters, type FoundParameter } from './parameters.ts';
import { checkedPath, templateNames } from './path-template.ts';
import { findBody } from './request-body.ts';
import { bodyArgument, sentBodyOf } from './sent-body.ts';
import type { SchemaTranslator } from './schema-translator.ts';
import type { Security } from './security.ts';

/** The context that all operations of a document share. */
export interface CompileContext {
  document: OpenDocument;
  inputs: SchemaTranslator;
  outputs: SchemaTranslator;
  server(operation: JsonObject, pathItem: JsonObject): string;
  security(operation: JsonObject, warn: (message: string) => void): Security;
  warn(message: string): void;
  version: string;
}

const longestDescription = 4000;
const longestTitle = 200;

/** [OAS-1] Compiles one operation into a tool. Throws `Unusable` with the reason if that is impossible. */
export function compileOperation(found: FoundOperation, name: string, poll: PollProfile | null, context: CompileContext): DiscoveredTool {
  const { document, warn } = context;
  const { method, operation, pathItem } = found;
  const { path, query } = checkedPath(found.path);
  const server = context.server(operation, pathItem);
  const security = context.security(operation, warn);
  const { parameters: given, ...bodies } = findParameters(document, operation, pathItem, warn);
  const parameters = [...withPath(path, given, warn), ...fixedQuery(query, given)].filter(
    (parameter) => !isCredential(parameter, security),
  );
  const body = findBody(document, method, operation, bodies);
  const names = argumentNames(parameters, body === null ? [] : [bodyArgument]);
  const sentBody = body === null ? null : sentBodyOf(document, body, names);
  const input_schema = inputSchema(context.inputs, { parameters, names, body, sent: sentBody }, warn);
  const answers = findAnswers(document, operation);
  if (answers.begins && poll === null) warn('The operation answers 202 with an address to poll: set async_poll to wait for the result');
  // A polled operation ends with another response than the one described here.
  const output_schema = poll === null ? outputSchema(context.outputs, answers.schema) : undefined;
  const sent = parameters.map((parameter, index) => httpParameter(parameter, names[index] ?? parameter.name));
  const title = textAt(own(operation, 'summary'));

  return {
    definition: {
      name,
      ...(title === undefined ? {} : { title: cut(title.trim(), longestTitle) }),
      description: descriptionOf(found),
      input_schema,
      ...(output_schema === undefined ? {} : { output_schema }),
      annotations: annotationsOf(method),
    },
    tags: tagsOf(own(operation, 'tags')),
    method,
    path: found.path,
    version: context.version,
    execution_mode: poll === null ? 'sync_http' : 'async_poll',
    operation: {
      operation_id: found.operationId,
      method,
      path,
      server,
      parameters: sent,
      body: sentBody,
      ...security,
      accept: answers.accept,
      ...(answers.redirects ? { answers_with_redirect: true } : {}),
      pagination: findPagination(document, answers.schema, sent),
      poll,
    } satisfies HttpOperation,
  };
}

/** Makes every name in the path a parameter, even if the document forgot it, and drops path parameters that are not in the path. */
function withPath(path: string, given: FoundParameter[], warn: (message: string) => void): FoundParameter[] {
  const names = templateNames(path);
  const kept = given.filter((parameter) => {
    if (parameter.in !== 'path' || names.includes(parameter.name)) return true;
    warn(`The parameter ${parameter.name} is not in the path; it is left out`);
    return false;
  });
  const missing = names.filter((name) => !kept.some((parameter) => parameter.in === 'path' && parameter.name === name));
  for (const name of missing) warn(`The parameter ${name} of the path is not described; it is treated as text`);
  const made = missing.map((name): FoundParameter => Object.assign({ name }, undescribed));
  return [...made, ...kept];
}

/** Makes each fixed query field in the path an argument with a single allowed value. */
function fixedQuery(query: [string, string][], given: FoundParameter[]): FoundParameter[] {
  const missing = query.filter(([name]) => !given.some((parameter) => parameter.in === 'query' && parameter.name === name));
  return missing.map(([name, value]): FoundParameter =>
    Object.assign({}, undescribed, { name, in: 'query' as const, style: 'form' as const, schema: { type: 'string', const: value } }),
  );
}

const undescribed = {
  in: 'path',
  required: true,
  style: 'simple',
  explode: false,
  allow_reserved: false,
  content_type: null,
  description: undefined,
  schema: { type: 'string' },
} as const;

/** The credential supplies the key of a security scheme, so the key is not an argument. */
function isCredential({ in: place, name }: FoundParameter, { security }: Security): boolean {
  const isSame = (key: string | undefined) => (place === 'header' ? key?.toLowerCase() === name.toLowerCase() : key === name);
  return security.flat().some((scheme) => scheme.type === 'api_key' && scheme.in === place && isSame(scheme.name));
}

function httpParameter({ description: _description, schema: _schema, ...parameter }: FoundParameter, argument: string): HttpParameter {
  return { argument, ...parameter };
}

function descriptionOf({ method, path, operation }: FoundOperation): string {
  const summary = textAt(own(operation, 'summary'))?.trim();
  const long = textAt(own(operation, 'description'))?.trim();
  const says =
    summary === undefined || long?.startsWith(summary) === true ? [long] : [long === undefined ? summary : sentence(summary), long];
  const deprecated = own(operation, 'deprecated') === true ? 'Deprecated.' : undefined;
  const parts = [deprecated, ...says].filter((part) => part !== undefined);
  return cut(parts.length === 0 ? `${method} ${path}` : parts.join('\n\n'), longestDescription);
}

/** Listings put everything on one line, where a summary without a full stop would run into the description. */
function sentence(text: string): string {
  return /[\p{L}\p{N})]$/u.test(text) ? `${text}.` : text;
}

/** [OAS-5] Hints from the properties of the HTTP method (RFC 9110 §9.2). */
export function annotationsOf(method: string): JsonObject {
  switch (method) {
    case 'GET':
    case 'HEAD':
    case 'OPTIONS':
    case 'TRACE':
    case 'QUERY':
      return { readOnlyHint: true, openWorldHint: true };
    case 'PUT':
      return { idempotentHint: true, openWorldHint: true };
    case 'DELETE':
      return { idempotentHint: true, destructiveHint: true, openWorldHint: true };
    default:
      return { openWorldHint: true };
  }
}

const mostTags = 50;

export function tagsOf(tags: Node): string[] {
  return listAt(tags)
    .filter((tag) => typeof tag === 'string')
    .slice(0, mostTags)
    .map((tag) => cut(tag, 200));
}
