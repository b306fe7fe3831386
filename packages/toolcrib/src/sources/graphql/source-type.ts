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
import { graphqlCommandLine } from './command-line.ts';
import { graphqlDefinitionSchema, type GraphqlDefinition } from './graphql-definition.ts';
import { openGraphqlKind } from './graphql-kind.ts';
import { graphqlFormSchema, type GraphqlForm } from './registration/graphql-form.ts';
import { normaliseGraphql } from './registration/normalise-graphql.ts';

export const graphql = defineSourceType<GraphqlForm, GraphqlDefinition>({
  name: 'graphql',
  definition: graphqlDefinitionSchema,
  boundTo: [],
  commandLine: graphqlCommandLine,
  registration: {
    form: graphqlFormSchema,
    required: ['name', 'source_type', 'graphql'],
    description: 'A GraphQL service: each query and each mutation is a tool',
    empty: graphqlDefinitionSchema.partial({ document: true, server_url: true }).parse({}),
    normalise: normaliseGraphql,
    merge: (form, stored, options) => ({
      ...form,
      ...keepStored(form, kept(stored, options)),
      graphql: keepDocument(form.graphql, stored.document),
    }),
    show: showDocumentDefinition,
    asGiven: ({ graphql: given }, { definition: { document, introspection } }) => ({
      graphql: introspection ? given : documentAsGiven(given, document),
    }),
    formOf: ({ server_url: endpoint, document, introspection, selection }) => ({
      graphql: { endpoint, ...(introspection ? { introspection: true } : placeFields(document)), selection },
    }),
    runNeed: (_form, { definition }) => documentRunNeed(definition, 'graphql'),
    literalSecrets: () => [],
    resolveFiles: (form, folder) => ({ ...form, graphql: resolveDocumentFile(form.graphql, folder) }),
    referringParts: ({ document }) => [document],
    hasMoved: (before, after) => hasOtherDocument(before, after, ({ document }) => document),
    isElsewhere: () => true,
  },
  open: openGraphqlKind,
});
