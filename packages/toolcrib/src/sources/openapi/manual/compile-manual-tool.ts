import type { HttpOperation, HttpRequestBody, PartEncoding } from '../../../model/http-operation.ts';
import { isObject, type JsonObject, type JsonSchema } from '../../../model/json.ts';
import type { PollProfile } from '../../../model/poll-profile.ts';
import type { DiscoveredTool } from '../../../model/tool.ts';
import { annotationsOf, tagsOf } from '../document/compile-operation.ts';
import { bodyKind } from '../document/media-types.ts';
import { cut, listAt, objectAt, own, textAt, type Node } from '../../documents/node.ts';
import { Unusable } from '../../documents/unusable.ts';
import { templateAddress } from './template-address.ts';
import { templateAuth } from './template-auth.ts';
import { headerParameters, templateHeaders } from './template-headers.ts';

export interface ManualContext {
  serverUrl: string | null;
  version: string;
  /** Whether any tool of the manual declares `auth`. */
  wantsAuth: boolean;
  warn(message: string): void;
}

const largestInput = 512 * 1024;
const largestOutput = 8 * 1024;
const longestDescription = 4000;
const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'];

/** [UTCP-1] Compiles one tool of a manual. Throws `Unusable` with the reason if its call template cannot be used. */
export function compileManualTool(tool: JsonObject, name: string, poll: PollProfile | null, context: ManualContext): DiscoveredTool {
  const template = templateOf(tool);
  const method = textAt(own(template, 'http_method'))?.toUpperCase() ?? 'GET';
  if (!methods.includes(method)) throw new Unusable(`http_method is ${JSON.stringify(cut(method, 50))}: use one of ${methods.join(', ')}`);
  const { server, path, parameters: placed } = templateAddress(textAt(own(template, 'url')) ?? '', context.serverUrl);
  const { fixed, contentType } = templateHeaders(own(template, 'headers'), own(template, 'content_type'), context.warn);
  const headers = headerParameters(own(template, 'header_fields'));
  const field = own(template, 'body_field') === null ? undefined : (textAt(own(template, 'body_field')) ?? 'body');
  const elsewhere = new Set([...headers.map(({ argument }) => argument), field]);
  for (const { argument } of placed) {
    if (elsewhere.has(argument)) throw new Unusable(`${argument} is used in the url and again as a header or the body: use it once`);
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
    tags: tagsOf(own(tool, 'tags')),
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
      // A manual without any auth may still describe a service that needs a credential.
      sends_credential: auth !== undefined || !context.wantsAuth,
      accept,
      pagination: null,
      poll,
    } satisfies HttpOperation,
  };
}

/** The call template of a tool. Only HTTP is accepted: a document must not start programs. */
function templateOf(tool: JsonObject): JsonObject {
  const template = own(tool, 'tool_call_template') ?? own(tool, 'tool_provider');
  if (!isObject(template)) throw new Unusable('tool_call_template is missing: it must say how to call the tool');
  const type = own(template, 'call_template_type') ?? own(template, 'provider_type');
  if (type === 'http') return template;
  if (type === 'mcp') throw new Unusable('The tool is called over MCP: register the MCP servers of the manual with `toolcrib import FILE`');
  throw new Unusable(`call_template_type is ${JSON.stringify(type ?? null)}: only http and mcp can be called`);
}

/** Arguments in the address are required, even if the manual does not say so. */
function inputOf(tool: JsonObject, needed: readonly string[]): JsonSchema {
  const given = own(tool, 'inputs') ?? own(tool, 'input_schema') ?? {};
  if (!isObject(given)) throw new Unusable('The inputs are not a JSON Schema');
  const { type = 'object' } = given;
  if (![type].flat().includes('object')) throw new Unusable('The inputs must be an object');
  const described = objectAt(own(given, 'properties'));
  const missing = needed.filter((name) => !Object.hasOwn(described, name)).map((name) => [name, { type: 'string' }] as const);
  const required = new Set([...listAt(own(given, 'required')), ...needed]);
  const schema: JsonObject = { ...given, type: 'object', properties: { ...Object.fromEntries(missing), ...described } };
  if (required.size > 0) schema['required'] = [...required];
  if (JSON.stringify(schema).length > largestInput)
    throw new Unusable(`The schema of the inputs takes more than ${largestInput / 1024} KiB`);
  return schema;
}

/** Output schemas are only advice. Undefined if the schema does not describe an object, or is too large. */
function outputOf(given: Node): JsonSchema | undefined {
  if (!isObject(given) || given['type'] !== 'object' || JSON.stringify(given).length > largestOutput) return undefined;
  return given;
}

/** Like the public UTCP client: text is sent verbatim in every type but JSON, and forms write nested fields with brackets. */
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
