import { expect } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import type { Tool } from '../../../src/model/tool.ts';
import {
  arazzo,
  askOver,
  importFrom,
  json,
  operationTool,
  runTool,
  startShop,
  type RunOptions,
  type Seen,
  type ShopAnswer,
} from './shop.ts';

export function toolsAt(server: string): Tool[] {
  return [
    operationTool({ id: 'findPets', path: '/pets', server, parameters: [['tag', 'query']] }),
    operationTool({
      id: 'getPet',
      path: '/pets/{petId}',
      server,
      parameters: [
        ['petId', 'path'],
        ['X-Trace', 'header'],
      ],
    }),
    operationTool({ id: 'placeOrder', method: 'POST', path: '/orders', server, body: json }),
    operationTool({ id: 'sendNote', method: 'POST', path: '/notes', server, body: { kind: 'text', type: 'application/xml' } }),
    operationTool({
      id: 'sendForm',
      method: 'POST',
      path: '/form',
      server,
      body: { kind: 'form', type: 'application/x-www-form-urlencoded' },
    }),
  ];
}

/** Imports the first workflow and runs it against a service that answers so. */
export async function play(
  workflows: object[],
  answer: (seen: Seen, count: number) => ShopAnswer,
  {
    args = {},
    extra = {},
    refuses = [],
    ...options
  }: Partial<RunOptions> & { args?: JsonObject; extra?: JsonObject; refuses?: string[] } = {},
) {
  await using shop = await startShop(answer);
  const tools = toolsAt(shop.origin);
  const { tools: found, report } = await importFrom(arazzo(workflows, extra), tools);
  expect(report.skipped).toEqual([]);
  const output = await runTool(found[0], args, { callTool: askOver(tools, refuses), ...options });
  return { output, requests: shop.requests, origin: shop.origin };
}

export const lines = (requests: Seen[]) => requests.map(({ method, url, body }) => `${method} ${url}${body === '' ? '' : ` ${body}`}`);
export const find = { stepId: 'find', operationId: 'findPets' };
export const order = { stepId: 'order', operationId: 'placeOrder' };
