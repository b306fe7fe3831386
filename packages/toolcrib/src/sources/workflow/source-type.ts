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
import { normaliseWorkflow } from './registration/normalise-workflow.ts';
import { workflowCommandLine } from './command-line.ts';
import { workflowFormSchema, type WorkflowForm } from './registration/workflow-form.ts';
import { workflowDefinitionSchema, type WorkflowDefinition } from './workflow-definition.ts';
import { openWorkflowKind } from './workflow-kind.ts';

export const workflow = defineSourceType<WorkflowForm, WorkflowDefinition>({
  name: 'workflow',
  definition: workflowDefinitionSchema,
  commandLine: workflowCommandLine,
  boundTo: ['openapi'],
  registration: {
    form: workflowFormSchema,
    required: ['name', 'source_type', 'workflow'],
    description: 'Workflows that an Arazzo document describes',
    empty: workflowDefinitionSchema.partial({ document: true }).parse({}),
    normalise: normaliseWorkflow,
    merge(form, stored, options) {
      const { pinning, discovery_credential } = keepStored(form, kept(stored, options));
      return { ...form, pinning, discovery_credential, workflow: keepDocument(form.workflow, stored.document) };
    },
    show: showDocumentDefinition,
    asGiven: (form, { definition }) => ({ workflow: documentAsGiven(form.workflow, definition.document) }),
    formOf: ({ document, sources }) => ({ workflow: { ...placeFields(document), sources } }),
    runNeed: (_form, { definition }) => documentRunNeed(definition, 'workflow'),
    literalSecrets: () => [],
    resolveFiles: (form, folder) => ({ ...form, workflow: resolveDocumentFile(form.workflow, folder) }),
    referringParts: ({ document }) => [document],
    hasMoved: (before, after) => hasOtherDocument(before, after, ({ document }) => Object.entries(document)),
    isElsewhere: () => false,
  },
  open: openWorkflowKind,
});
