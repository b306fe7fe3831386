import { addressListSchema, addressQuerySchema } from '../api.ts';
import type { Crib } from '../crib.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { createAddressWeights, tokensInSearchMode } from './address-weights.ts';

/** `publicUrl` is where callers reach this server, without a slash at its end. */
export function addressRoutes({ inventory, publicUrl, isOpen }: Pick<Crib, 'inventory'> & { publicUrl: string; isOpen: boolean }): Route[] {
  const weigh = createAddressWeights(inventory);
  return [
    defineRoute({
      method: 'GET',
      path: '/api/bff/addresses',
      operationId: 'listAddresses',
      summary: 'The addresses for MCP clients, and what each costs a model',
      description:
        'The one with all tools that the caller may use, and one for each group that gives them some. Tokens are an estimate of the names, descriptions and input schemas that a client gives its model. Empty where the MCP door is closed.',
      tag: 'agents',
      access: 'caller',
      query: addressQuerySchema,
      // The first time for a list it is written out to be weighed.
      rated: () => isOpen,
      responses: { 200: { description: 'The addresses', schema: addressListSchema } },
      errors: ['RATE_LIMITED'],
      handle({ principal, query: { heaviest = 10 } }) {
        const weights = isOpen ? weigh(principal) : [];
        return {
          addresses: weights.map(({ group, tools, tokens }) => ({
            url: `${publicUrl}/mcp${group === undefined ? '' : `/${group}`}`,
            group: group ?? null,
            tools: tools.length,
            tokens,
            tokens_in_search_mode: tokensInSearchMode,
            heaviest: tools.slice(0, heaviest),
          })),
        };
      },
    }),
  ];
}
