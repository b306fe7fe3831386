import type { HttpOperation, HttpRequestBody, PartEncoding } from '../../../model/http-operation.ts';
import type { JsonObject, JsonSchema } from '../../../model/json.ts';
import type { PollProfile } from '../../../model/poll-profile.ts';
import type { DiscoveredTool } from '../../../model/tool.ts';
import { annotationsOf } from '../document/compile-operation.ts';
import { bodyKind } from '../document/media-types.ts';
import { cut, isObject, listAt, objectAt, own, textAt, type Node } from '../document/node.ts';
import { Unusable } from '../document/unusable.ts';
import { templateAddress } from './template-address.ts';
import { templateAuth } from './template-auth.ts';
import { headerParameters, templateHeaders } from './template-headers.ts';

export interface ManualContext {
  serverUrl: string | null;
  version: string;
  /** Whether any tool of the manual says how it wants to know who calls. */
  wantsAuth: boolean;
  warn(message: string): void;
}

const largestInput = 512 * 1024;
const largestOutput = 8 * 1024;
const longestDescription = 4000;
const mostTags = 50;
const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'];

/** [UTCP-1] One tool of a manual, called as its template says. Throws `Unusable` with the reason where it cannot be. */
export function compileManualTool(tool: JsonObject, name: string, poll: PollProfile | null, context: ManualContext): DiscoveredTool {
  const template = templateOf(tool);
  const method = textAt(own(template, 'http_method'))?.toUpperCase() ?? 'GET';
  if (!methods.includes(method))
    throw new Unusable(`Its http_method is ${JSON.stringify(cut(method, 50))}: it can be ${methods.join(', ')}`);
  const { server, path, parameters: placed } = templateAddress(textAt(own(template, 'url')) ?? '', context.serverUrl);
  const { fixed, contentType } = templateHeaders(own(template, 'headers'), own(template, 'content_type'), context.warn);
  const headers = headerParameters(own(template, 'header_fields'));
  const field = own(template, 'body_field') === null ? undefined : (textAt(own(template, 'body_field')) ?? 'body');
  const elsewhere = new Set([...headers.map(({ argument }) => argument), field]);
  for (const { argument } of placed) {
    if (elsewhere.has(argument)) throw new Unusable(`${argument} stands in its url, and is a header or the body too`);
  }
  const input_schema = inputOf(tool, [...new Set(placed.map(({ argument }) => argument))]);
  const output_schema = outputOf(own(tool, 'outputs') ?? own(tool, 'output_schema'));
  const auth = templateAuth(own(template, 'auth'));
  const { accept = '*/*', ...others } = fixed;
  return {
    definition: {
      name,
      description: cut(textAt(own(tool, 'description'))?.trim() ?? `${method} ${path}`, longestDescription),
      input_schema,
      ...(output_schema === undefined ? {} : { output_schema }),
      annotations: annotationsOf(method),
    },
    tags: listAt(own(tool, 'tags'))
      .filter((tag) => typeof tag === 'string')
      .slice(0, mostTags)
      .map((tag) => cut(tag, 200)),
    method,
    path: path.split('?', 1)[0] ?? path,
    version: context.version,
    execution_mode: poll === null ? 'sync_http' : 'async_poll',
    operation: {
      operation_id: null,
      method,
      path,
      server,
      parameters: [...placed, ...headers],
      rest: 'query',
      ...(Object.keys(others).length === 0 ? {} : { headers: others }),
      body: field === undefined ? null : bodyOf(field, contentType, input_schema),
      security: auth === undefined ? [] : [[auth]],
      // Some manuals say nothing of it, and their services want to know all the same.
      sends_credential: auth !== undefined || !context.wantsAuth,
      accept,
      pagination: null,
      poll,
    } satisfies HttpOperation,
  };
}

/** The template of an HTTP call; another one is not for a document to start. */
function templateOf(tool: JsonObject): JsonObject {
  const template = own(tool, 'tool_call_template') ?? own(tool, 'tool_provider');
  if (!isObject(template)) throw new Unusable('It has no tool_call_template, so that it is not known how it is called');
  const type = own(template, 'call_template_type') ?? own(template, 'provider_type');
  if (type === 'http') return template;
  if (type === 'mcp')
    throw new Unusable('It is called over MCP: import the manual itself to register its servers, with `toolcrib import FILE`');
  throw new Unusable(`Its call_template_type is ${JSON.stringify(type ?? null)}: http and mcp can be called`);
}

/** What stands in the address is needed, whether the manual says so or not. */
function inputOf(tool: JsonObject, needed: readonly string[]): JsonSchema {
  const given = own(tool, 'inputs') ?? own(tool, 'input_schema') ?? {};
  if (!isObject(given)) throw new Unusable('Its inputs are no JSON Schema');
  const { type = 'object' } = given;
  if (![type].flat().includes('object')) throw new Unusable('Its inputs are no object');
  const described = objectAt(own(given, 'properties'));
  const missing = needed.filter((name) => !Object.hasOwn(described, name)).map((name) => [name, { type: 'string' }] as const);
  const required = new Set([...listAt(own(given, 'required')), ...needed]);
  const schema: JsonObject = { ...given, type: 'object', properties: { ...Object.fromEntries(missing), ...described } };
  if (required.size > 0) schema['required'] = [...required];
  if (JSON.stringify(schema).length > largestInput) throw new Unusable(`Its inputs take more than ${largestInput / 1024} KiB to describe`);
  return schema;
}

/** Only advice, and undefined where the answer is no object. */
function outputOf(given: Node): JsonSchema | undefined {
  if (!isObject(given) || given['type'] !== 'object' || JSON.stringify(given).length > largestOutput) return undefined;
  return given;
}

/** As the public client sends it: text is sent as it is in every type but JSON, forms name what is inside of others with brackets. */
function bodyOf(argument: string, content_type: string, { properties, required }: JsonSchema): HttpRequestBody {
  const usual = bodyKind(content_type);
  const kind = usual === 'binary' ? 'text' : usual;
  const schema = objectAt(own(objectAt(properties), argument));
  const parts = kind === 'form' ? Object.keys(objectAt(own(schema, 'properties'))) : [];
  const encoding = Object.fromEntries(parts.map((part) => [part, bracketed]));
  return { argument, required: listAt(required).includes(argument), content_type, kind, encoding };
}

const bracketed: PartEncoding = {
  content_type: null,
  style: 'deepObject',
  explode: true,
  allow_reserved: false,
  binary: false,
  headers: {},
};
