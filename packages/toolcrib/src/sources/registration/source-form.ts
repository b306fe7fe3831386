import type { z } from 'zod';
import type { handlingFields } from './common-fields.ts';
import type { CredentialInput, ValueInput } from './value-input.ts';

type Handling = z.infer<z.ZodObject<typeof handlingFields>>;

/** The fields that registrations of all kinds have. Each kind adds its own fields. */
export interface SourceForm extends Handling {
  source_type: string;
  id?: string | undefined;
  name?: string | undefined;
  namespace?: string | undefined;
  enabled: boolean;
  headers?: Record<string, ValueInput> | undefined;
  credential?: CredentialInput | undefined;
  discovery_credential?: CredentialInput | undefined;
  allow_insecure: boolean;
}

/** A form before defaults are filled in, as a person or a file writes it. */
export type SourceFormInput = { source_type?: string; name?: string | null | undefined } & Record<string, unknown>;
