import type { DefinedSource, SourceRecord } from '../../model/source.ts';
import {
  documentAsGiven,
  documentRunNeed,
  hasOtherDocument,
  keepDocument,
  placeFields,
  resolveDocumentFile,
  showDocumentDefinition,
} from '../registration/document-registration.ts';
import { keepStored, kept } from '../registration/keep-stored.ts';
import { defineSourceType } from '../source-type.ts';
import { openApiCommandLine } from './command-line.ts';
import { openApiDefinitionSchema, type OpenApiDefinition } from './openapi-definition.ts';
import { openOpenApiKind } from './openapi-kind.ts';
import { normaliseOpenApi } from './registration/normalise-openapi.ts';
import { openApiFormSchema, type OpenApiForm } from './registration/openapi-form.ts';

export const openapi = defineSourceType<OpenApiForm, OpenApiDefinition>({
  name: 'openapi',
  definition: openApiDefinitionSchema,
  commandLine: openApiCommandLine,
  boundTo: [],
  registration: {
    form: openApiFormSchema,
    required: ['name', 'source_type', 'openapi'],
    description: 'A service that an OpenAPI document describes',
    empty: openApiDefinitionSchema.partial({ document: true }).parse({}),
    normalise: normaliseOpenApi,
    merge: (form, stored, options) => ({
      ...form,
      ...keepStored(form, kept(stored, options)),
      openapi: keepDocument(form.openapi, stored.document),
    }),
    show: showDocumentDefinition,
    asGiven: (form, { definition }) => ({ openapi: documentAsGiven(form.openapi, definition.document) }),
    formOf({ document, server_url, origins, server_variables, external_refs, async_poll }) {
      const fields = { ...placeFields(document), origins, server_variables, external_refs, async_poll };
      return { openapi: server_url === null ? fields : { ...fields, server_url } };
    },
    runNeed: (_form, { definition }) => documentRunNeed(definition, 'openapi'),
    literalSecrets: () => [],
    resolveFiles: (form, folder) => ({ ...form, openapi: resolveDocumentFile(form.openapi, folder) }),
    referringParts: ({ document }) => [document],
    hasMoved: (before, after) => hasOtherDocument(before, after, placeOf),
    isElsewhere: () => true,
  },
  open: openOpenApiKind,
});

/** [SEC-1] Everything that decides where calls are sent if the definition has no `server_url`. */
function placeOf({ document, server_variables, origins }: OpenApiDefinition): unknown {
  const sorted = Object.entries(server_variables).sort(([a], [b]) => (a < b ? -1 : 1));
  return [Object.entries(document), sorted, origins.toSorted()];
}

export function isOpenApiSource(source: SourceRecord): source is DefinedSource<OpenApiDefinition> {
  return source.source_type === openapi.name;
}
