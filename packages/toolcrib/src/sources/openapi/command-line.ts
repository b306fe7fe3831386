import type { OptionTable } from '../../model/option-table.ts';
import { defineCommandLine, type GivenOptions } from '../registration/command-line.ts';
import { documentPlace } from '../registration/command-line/document-place.ts';
import { formatField } from '../registration/command-line/format-field.ts';
import { givenPairs } from '../registration/command-line/given-pairs.ts';
import { serviceCredential } from '../registration/command-line/service-credential.ts';
import { addressOptions, variableOptions } from '../registration/command-line/shared-options.ts';
import { nameOfDocument } from '../registration/command-line/telling-name.ts';
import type { OpenApiFormInput } from './registration/openapi-form.ts';

const options = {
  ...variableOptions,
  ...addressOptions,
  openapi: { help: 'Treats the address or file as an OpenAPI document. Not needed if the name ends in .json, .yaml or .yml' },
  'server-url': { value: 'address', help: 'The address of the service; replaces the servers in the document' },
  origin: {
    value: 'origin',
    many: true,
    help: 'An origin in the document that may receive the credential; tools at other origins are left out',
  },
  'server-variable': { value: 'NAME=VALUE', many: true, help: "A value for a variable in the document's server address" },
  'external-ref': {
    value: 'address',
    many: true,
    help: 'Allows references to addresses with this prefix; none by default',
  },
} as const satisfies OptionTable;

const files = /\.(?:json|ya?ml)$/i;
const filler = { words: ['openapi', 'swagger', 'api-docs'], endings: /\.(?:openapi|swagger)\.(?:json|ya?ml)$/i };

/** [SRC-5] Registers services described by OpenAPI documents from the command line. */
export const openApiCommandLine = defineCommandLine({
  noun: 'OpenAPI services',
  operands: ['document'],
  options,
  chosenBy: ['openapi'],
  document: { name: 'OpenAPI', files, option: 'openapi' },
  notes: [
    'A document is an address, or a file on this machine, that ends in .json, .yaml or .yml. A file is read here and sent to the server.',
    'For an API, the variable BEARER_TOKEN becomes its bearer token, and API_KEY the header X-API-Key.',
  ],
  examples: [
    'toolcrib add https://api.example.org/openapi.json --secret BEARER_TOKEN < token.txt',
    'toolcrib add https://api.example.org/openapi.json --basic-user ann < password.txt',
    "toolcrib add ./openapi.yaml --server-url https://api.example.org/v2 --tag orders --method GET --exclude '*admin*'",
  ],
  recognise({ written, address, text }) {
    if (address === undefined) return files.test(written) ? formatField(text(), ['openapi', 'swagger']) : undefined;
    if (/\/(?:openapi|swagger|api-docs)\/?$/i.test(address.pathname)) return 'certain';
    // MCP servers are never at such addresses.
    return files.test(address.pathname) ? 'likely' : undefined;
  },
  register(request) {
    const { given, operand } = request;
    const openapi = { ...documentPlace(request), ...serverFields(given) };
    const form: Omit<OpenApiFormInput, 'name'> = {
      source_type: 'openapi',
      openapi,
      ...serviceCredential(request),
      ...(given.on('allow-insecure') ? { allow_insecure: true } : {}),
    };
    return { name: operand === undefined ? '' : nameOfDocument(operand, filler), form };
  },
  describe: ({ manual }) => (typeof manual === 'string' ? [['Manual', manual]] : []),
});

function serverFields(given: GivenOptions<keyof typeof options>): Partial<OpenApiFormInput['openapi']> {
  const serverUrl = given.text('server-url');
  const server_variables = givenPairs(given, 'server-variable');
  const origins = given.list('origin');
  const external_refs = given.list('external-ref');
  return {
    ...(serverUrl === undefined ? {} : { server_url: serverUrl }),
    ...(origins.length === 0 ? {} : { origins }),
    ...(server_variables === undefined ? {} : { server_variables }),
    ...(external_refs.length === 0 ? {} : { external_refs }),
  };
}
