import { workflowDefinitionSchema, type WorkflowDefinition } from '../workflow-definition.ts';
import { handlingOf } from '../../registration/common-fields.ts';
import { createDraft } from '../../registration/draft.ts';
import type { NormalisedRegistration } from '../../registration/normalised-registration.ts';
import { checkDiscoveryConnection } from '../../registration/per-user-rules.ts';
import { readDiscoveryCredential } from '../../registration/read-discovery-credential.ts';
import { readDocumentPlace } from '../../registration/read-document-place.ts';
import { keepReferred } from '../../registration/keep-referred.ts';
import { readNaming } from '../../registration/read-naming.ts';
import type { RegistrationContext } from '../../registration/registration-context.ts';
import type { WorkflowForm } from './workflow-form.ts';

/** [WF-1] Makes the definition from a registration. It has no credential of its own, because its steps call tools of other sources. */
export function normaliseWorkflow(form: WorkflowForm, context: RegistrationContext): NormalisedRegistration<WorkflowDefinition> {
  const naming = readNaming(form, context);
  const draft = createDraft(context);
  const { allow_insecure: allowInsecure } = form;
  const { place, text } = readDocumentPlace(draft, form.workflow, { field: 'workflow', allowInsecure });
  if ('url' in place) keepReferred(draft, [place.url], context);
  checkDiscoveryConnection(form.discovery_credential, { type: 'none' });
  const definition = workflowDefinitionSchema.parse({
    document: place,
    sources: form.workflow.sources,
    allow_insecure: allowInsecure,
    environment: Object.fromEntries(draft.environment),
    discovery_credential: readDiscoveryCredential(draft, form, place),
    ...handlingOf(form, context),
  });
  return { ...naming, enabled: form.enabled, definition, secrets: draft.secrets, starts: null, missing: [], document: text };
}
