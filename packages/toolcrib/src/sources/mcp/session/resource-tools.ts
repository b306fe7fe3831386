import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import type { DiscoveredTool } from '../../../model/tool.ts';
import { isName, shortened, shownName, type SkippedTool } from './tool-definition.ts';
import { parseUriTemplate } from './uri-template.ts';

/** [MCP-8] The names of resources as tools begin with this. */
export const resourcePrefix = 'resource_';

type ReadResource = { tool: DiscoveredTool; uriFor(args: JsonObject): string } | { skipped: SkippedTool };

/** One entry of `resources/list` as a tool without input that reads it. */
export function readResource(entry: Json, version: string): ReadResource {
  const { name, uri } = isObject(entry) ? entry : {};
  if (!isObject(entry) || typeof uri !== 'string' || uri === '') return skipped(name, 'The resource has no URI');
  return described(entry, version, uri, [], () => uri);
}

/** One entry of `resources/templates/list` as a tool whose input is the template's variables. */
export function readResourceTemplate(entry: Json, version: string): ReadResource {
  const { name, uriTemplate } = isObject(entry) ? entry : {};
  const address = typeof uriTemplate === 'string' ? uriTemplate : '';
  const template = parseUriTemplate(address);
  if (!isObject(entry) || template === undefined) return skipped(name, 'Its URI template has more than plain {variables}');
  return described(entry, version, address, template.variables, template.expand);
}

function described(
  entry: JsonObject,
  version: string,
  address: string,
  variables: string[],
  uriFor: (args: JsonObject) => string,
): ReadResource {
  const { name, title, description } = entry;
  const toolName = typeof name === 'string' && name !== '' ? `${resourcePrefix}${name}` : '';
  if (!isName(toolName)) return skipped(name, 'Its name is not short printable text');
  return {
    uriFor,
    tool: {
      definition: {
        name: toolName,
        ...(typeof title === 'string' && title !== '' && { title: title.slice(0, 500) }),
        description: shortened(description) || shortened(`Reads ${address}`),
        input_schema: {
          type: 'object',
          properties: Object.fromEntries(variables.map((variable) => [variable, { type: 'string' }])),
          ...(variables.length > 0 && { required: variables }),
          additionalProperties: false,
        },
        annotations: { readOnlyHint: true },
      },
      tags: [],
      ...(version !== '' && { version }),
      execution_mode: 'mcp_call',
    },
  };
}

function skipped(name: unknown, reason: string): ReadResource {
  return { skipped: { name: `${resourcePrefix}${shownName(name)}`, reason } };
}
