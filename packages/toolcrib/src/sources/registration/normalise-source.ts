import { normaliseRegistration } from '../mcp/registration/normalise.ts';
import { normaliseOpenApi } from '../openapi/registration/normalise-openapi.ts';
import { normaliseWorkflow } from '../workflow/registration/normalise-workflow.ts';
import type { NormalisedSource } from './normalised-registration.ts';
import type { RegistrationContext } from './registration-context.ts';
import type { SourceForm } from './source-form.ts';

/** [SRC] What a registration of any type comes to. */
export async function normaliseSource(form: SourceForm, context: RegistrationContext): Promise<NormalisedSource> {
  switch (form.source_type) {
    case 'mcp':
      return { source_type: 'mcp', ...(await normaliseRegistration(form, context)) };
    case 'openapi':
      return { source_type: 'openapi', ...normaliseOpenApi(form, context) };
    case 'workflow':
      return { source_type: 'workflow', ...normaliseWorkflow(form, context) };
  }
}
