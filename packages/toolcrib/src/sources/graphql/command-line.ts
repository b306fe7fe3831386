import type { OptionTable } from '../../model/option-table.ts';
import { UsageError } from '../../model/usage-error.ts';
import { defineCommandLine, type AddRequest } from '../registration/command-line.ts';
import { documentPlace } from '../registration/command-line/document-place.ts';
import { serviceCredential } from '../registration/command-line/service-credential.ts';
import { addressOptions, variableOptions } from '../registration/command-line/shared-options.ts';
import { nameOfAddress } from '../registration/command-line/telling-name.ts';
import type { GraphqlFormInput } from './registration/graphql-form.ts';

const options = {
  ...variableOptions,
  ...addressOptions,
  graphql: { help: 'The address is a GraphQL endpoint, or the file is a schema. Not needed if it ends in /graphql or .graphql' },
  endpoint: { value: 'address', help: 'The address of the GraphQL service that the schema describes' },
  'selection-depth': { value: 'n', help: 'How many levels of nested objects its tools request; 2 by default' },
  'selection-fields': { value: 'n', help: 'How many fields its tools request at most; 50 by default' },
} as const satisfies OptionTable;

const files = /\.(?:graphqls?|gql)$/i;

/** GraphQL services on the command line: an endpoint that describes itself, or a schema and its endpoint. */
export const graphqlCommandLine = defineCommandLine({
  noun: 'GraphQL services',
  operands: ['endpoint', 'schema'],
  options,
  chosenBy: ['graphql', 'endpoint'],
  document: { name: 'GraphQL', files, option: 'graphql' },
  notes: [
    'The schema is read from the GraphQL endpoint. If introspection is off there, give a file or an address with the schema, and --endpoint.',
  ],
  examples: [
    'toolcrib add https://api.example.org/graphql --secret BEARER_TOKEN < token.txt',
    'toolcrib add ./schema.graphql --endpoint https://api.example.org/graphql',
  ],
  recognise({ written, address, text }) {
    if (address !== undefined) return /\/graphql\/?$/i.test(address.pathname) || files.test(address.pathname) ? 'certain' : undefined;
    if (files.test(written)) return 'certain';
    return /\.json$/i.test(written) && /^\s*\{\s*(?:"data"\s*:\s*\{\s*)?"__schema"/.test(text()) ? 'certain' : undefined;
  },
  register(request) {
    const { given } = request;
    const endpoint = endpointOf(request);
    const selection = {
      ...(given.text('selection-depth') === undefined ? {} : { depth: given.number('selection-depth', { least: 0, most: 6 }) }),
      ...(given.text('selection-fields') === undefined ? {} : { fields: given.number('selection-fields', { least: 1, most: 500 }) }),
    };
    const form: Omit<GraphqlFormInput, 'name'> = {
      source_type: 'graphql',
      graphql: {
        endpoint,
        ...(given.text('endpoint') === undefined ? {} : documentPlace(request)),
        ...(Object.keys(selection).length === 0 ? {} : { selection }),
      },
      ...serviceCredential(request),
      ...(given.on('allow-insecure') ? { allow_insecure: true } : {}),
    };
    const address = URL.parse(endpoint);
    return { name: address === null ? endpoint : nameOfAddress(address), form };
  },
});

/** A single address is the endpoint. A schema does not say where its service is. */
function endpointOf({ given, operand, rest }: AddRequest<keyof typeof options>): string {
  const named = given.text('endpoint');
  if (named !== undefined) return named;
  if (operand?.address === undefined || files.test(operand.address.pathname))
    throw new UsageError('A schema does not say where its service is: add --endpoint https://…/graphql', { field: 'endpoint' });
  if (rest[0] !== undefined) throw new UsageError(`${JSON.stringify(rest[0])} is one argument too many after an address`);
  return operand.written;
}
