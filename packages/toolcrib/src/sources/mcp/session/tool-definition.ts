import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import type { DiscoveredTool } from '../../../model/tool.ts';
import { findParamHeaders, type ParamHeader } from './param-headers.ts';

const maxNameLength = 256;
const maxDescriptionLength = 20_000;
const maxTitleLength = 500;
const maxDepth = 100;

/** A listed tool that cannot be used, and why. */
export interface SkippedTool {
  name: string;
  reason: string;
}

export type ReadTool = { tool: DiscoveredTool; headers: readonly ParamHeader[] } | { skipped: SkippedTool };

/** One entry of `tools/list`. The server wrote it, so everything is checked. `perHttpHeaders` where parameters go into headers. */
export function readTool(entry: Json, version: string, perHttpHeaders: boolean): ReadTool {
  const name = isObject(entry) ? entry['name'] : undefined;
  const skip = (reason: string): ReadTool => ({ skipped: { name: shownName(name), reason } });
  if (!isObject(entry)) return skip('It is not an object');
  if (!isName(name)) return skip(`Its name is not text of 1 to ${maxNameLength} printable characters`);
  if (isDeeperThan(entry, maxDepth)) return skip(`Its definition is nested more than ${maxDepth} levels deep`);
  const { inputSchema, outputSchema, annotations, title, execution } = entry;
  if (!isObject(inputSchema)) return skip('It has no input schema');
  if ((inputSchema['type'] ?? 'object') !== 'object') return skip('Its input schema is not for an object');
  if (isObject(execution) && execution['taskSupport'] === 'required')
    return skip('It can only be called as a task, which is not supported');
  const found = perHttpHeaders ? findParamHeaders(inputSchema) : { valid: true as const, headers: [] };
  if (!found.valid) return skip(found.reason);
  return {
    headers: found.headers,
    tool: {
      definition: {
        name,
        ...(typeof title === 'string' && title !== '' && { title: title.slice(0, maxTitleLength) }),
        description: shortened(entry['description']),
        input_schema: inputSchema,
        ...(isObject(outputSchema) && { output_schema: outputSchema }),
        ...(isObject(annotations) && { annotations }),
      },
      tags: [],
      ...(version !== '' && { version }),
      execution_mode: 'mcp_call',
    },
  };
}

/** A name for people and models has no control characters, line breaks or halves of characters. */
export function isName(name: unknown): name is string {
  return typeof name === 'string' && name.length > 0 && name.length <= maxNameLength && !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(name);
}

export function shortened(description: unknown): string {
  if (typeof description !== 'string') return '';
  return description.length > maxDescriptionLength ? `${description.slice(0, maxDescriptionLength - 1)}…` : description;
}

export function shownName(name: unknown): string {
  return typeof name === 'string' || typeof name === 'number' ? String(name).slice(0, 100) : '';
}

function isDeeperThan(value: Json | JsonObject, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}
