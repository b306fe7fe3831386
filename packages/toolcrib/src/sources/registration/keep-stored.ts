import { mapSecrets } from '../../model/credential.ts';
import type { Credential, NamedValue, SourceDefinition } from '../../model/source-definition.ts';
import { hiddenValue } from '../../secrets/secret.ts';
import type { CredentialInput, ValueInput } from './value-input.ts';

interface KeepingForm {
  pinning?: SourceDefinition['pinning'] | undefined;
  headers?: Record<string, ValueInput> | undefined;
  credential?: CredentialInput | undefined;
  discovery_credential?: CredentialInput | undefined;
}

/** [ENV-4] The parts of a registration that every type has, with each `***` replaced by the stored value. */
export function keepStored(form: KeepingForm, stored: SourceDefinition): KeepingForm {
  const { headers, credential, discovery_credential: discovery } = form;
  return {
    // [INV-3] Tools that wait for approval must not slip in because a replacement leaves out `pinning`.
    pinning: form.pinning ?? stored.pinning,
    ...(headers === undefined ? {} : { headers: keepValues(headers, spelledAs(headers, stored.headers)) }),
    ...(credential === undefined ? {} : { credential: keepCredential(credential, stored.credential) }),
    ...(discovery === undefined ? {} : { discovery_credential: keepCredential(discovery, stored.discovery_credential) }),
  };
}

/** The stored values that a replacement may keep. A source that has moved keeps none: the new server must not get the old secrets. */
export function kept<Definition extends SourceDefinition>(stored: Definition, { keepSecrets }: { keepSecrets: boolean }): Definition {
  return keepSecrets ? stored : { ...stored, ...nothingStored };
}

export const nothingStored = { environment: {}, headers: {}, credential: { type: 'none' }, discovery_credential: null } as const;

export function keepValues(
  values: Readonly<Record<string, ValueInput>>,
  stored: Readonly<Record<string, NamedValue>>,
): Record<string, ValueInput> {
  return Object.fromEntries(Object.entries(values).map(([name, input]) => [name, keep(input, lookUp(stored, name))]));
}

export function lookUp(values: Readonly<Record<string, NamedValue>>, name: string): NamedValue | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** Header names are case-insensitive. */
function spelledAs(
  headers: Readonly<Record<string, ValueInput>>,
  stored: Readonly<Record<string, NamedValue>>,
): Record<string, NamedValue> {
  const spelling = new Map(Object.keys(headers).map((name) => [name.toLowerCase(), name]));
  return Object.fromEntries(Object.entries(stored).map(([name, value]) => [spelling.get(name.toLowerCase()) ?? name, value]));
}

function keep(input: ValueInput, stored: NamedValue | undefined): ValueInput {
  const hidden = input === hiddenValue || (typeof input === 'object' && 'value' in input && input.value === hiddenValue);
  return hidden && stored !== undefined ? stored : input;
}

function keepCredential(credential: CredentialInput, stored: Credential | null): CredentialInput {
  if (credential.type !== stored?.type) return credential;
  const known = stored as Record<string, unknown>;
  return mapSecrets<ValueInput, ValueInput>(credential, (value, field) => keep(value, known[field] as NamedValue | undefined));
}
