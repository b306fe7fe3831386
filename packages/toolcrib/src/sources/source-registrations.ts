import { mapSecrets } from '../model/credential.ts';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import type { SourceDefinition } from '../model/source-definition.ts';
import type { DefinedSource } from '../model/source.ts';
import { hideAs, hideValues } from './registration/hide-as.ts';
import { isSentElsewhere } from './registration/is-sent-elsewhere.ts';
import { namesSecretIn } from './registration/names-secret.ts';
import type { NormalisedRegistration, RunNeed } from './registration/normalised-registration.ts';
import type { RegistrationContext } from './registration/registration-context.ts';
import type { SourceForm } from './registration/source-form.ts';
import type { CredentialInput, ValueInput } from './registration/value-input.ts';
import { registrationFor } from './registry.ts';
import type { ShownSource } from './source-type.ts';

/** A registration of any kind, ready to be saved. */
export type NormalisedSource = NormalisedRegistration<SourceDefinition> & { source_type: string };

/** Turns a registration of any kind into a definition. */
export async function normaliseSource(form: SourceForm, context: RegistrationContext): Promise<NormalisedSource> {
  const { source_type } = form;
  return { ...(await registrationFor(source_type).normalise(form, context)), source_type };
}

/**
 * [ENV-4] A registration that replaces a stored one, with each `***` replaced by the stored value. A `***` without a stored value stays,
 * and is refused when the registration is normalised.
 */
export function mergeSource(known: DefinedSource, form: SourceForm, { keepSecrets = true } = {}): SourceForm {
  if (known.source_type === form.source_type) return registrationFor(form.source_type).merge(form, known.definition, { keepSecrets });
  throw new CribError(
    'CONFLICT',
    `${known.name} is a source of type ${known.source_type}, and its type cannot change: register a new source`,
    {
      field: 'source_type',
    },
  );
}

type Defined = Pick<DefinedSource, 'source_type' | 'definition'>;

/** [ENV-4] The definition of a source as the API shows it: secrets as `***`. */
export function showSource({ source_type, definition }: Defined): ShownSource {
  return registrationFor(source_type).show(definition);
}

/** [SEC-2] The reason why a registration needs the run permission; null if it does not. */
export function runNeedOf(form: SourceForm, made: NormalisedSource): RunNeed | null {
  return registrationFor(form.source_type).runNeed(form, made);
}

/**
 * Whether the new definition would send the secrets of the old one elsewhere: to another server, to another authorization server, or
 * wherever another document says.
 */
export function hasMoved({ source_type, definition: before }: Defined, after: SourceDefinition): boolean {
  return isSentElsewhere(before, after) || registrationFor(source_type).hasMoved(before, after);
}

/** Whether a source refers to this secret, so that without it the source could not start, or not as intended. */
export function namesSecret(source: Defined & { id: string }, secret: string): boolean {
  const { id, source_type, definition } = source;
  return namesSecretIn({ id, definition, parts: registrationFor(source_type).referringParts(definition) }, secret);
}

/**
 * [SRC-2] [ENV-4] A registration as it was given, to be stored and read back in its own form: a secret is `***`, or `${NAME}` within a text,
 * so that it can be sent back. Names and `enabled` are left out, because they can change without a registration.
 */
export function asGiven(form: SourceForm, made: NormalisedSource): JsonObject {
  const { id: _id, name: _name, namespace: _namespace, enabled: _enabled, source_type, ...given } = form;
  const registration = registrationFor(source_type);
  const shown = registration.show(made.definition);
  const hidden: Record<string, unknown> = { ...given };
  if (given.headers !== undefined) hidden['headers'] = hideValues(given.headers, shown.headers as Record<string, ValueInput>);
  if (given.credential !== undefined) hidden['credential'] = hideCredential(given.credential, shown.credential);
  if (given.discovery_credential !== undefined)
    hidden['discovery_credential'] = hideCredential(given.discovery_credential, shown.discovery_credential);
  return plain({ ...hidden, ...registration.asGiven(form, made) });
}

/** [SRC-2] The registration of a source as the API shows it: in the form it was given in, with secrets as `***`. */
export function registrationOf(source: DefinedSource): JsonObject {
  return source.registration ?? formOfDefinition(source);
}

/** An equivalent registration, for a source that was saved before registrations were stored. */
function formOfDefinition({ source_type, definition }: DefinedSource): JsonObject {
  const registration = registrationFor(source_type);
  const { allow_insecure, headers, credential, discovery_credential, ...shown } = registration.show(definition);
  const { resilience, limits, tools, pinning, refresh_interval_ms } = shown;
  return plain({
    resilience,
    limits,
    tools,
    pinning,
    refresh_interval_ms,
    allow_insecure,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(credential.type === 'none' ? {} : { credential }),
    ...(discovery_credential === null ? {} : { discovery_credential }),
    ...registration.formOf(definition),
  });
}

function hideCredential(given: CredentialInput, shown: object | null): CredentialInput {
  const fields = (shown ?? {}) as Record<string, ValueInput | undefined>;
  return mapSecrets<ValueInput, ValueInput>(given, (value, field) => hideAs(value, fields[field]));
}

/** The form as it is stored, without undefined fields. */
function plain(form: object): JsonObject {
  return JSON.parse(JSON.stringify(form)) as JsonObject;
}
