import { mapSecrets } from '../../model/credential.ts';
import type { Credential, NamedValue, SourceDefinition } from '../../model/source-definition.ts';
import { ownerOf } from '../../secrets/secret-name.ts';
import { hiddenValue } from '../../secrets/secret.ts';
import { maskAddress } from './mask-address.ts';
import { hasReference, looksLikeSecretValue, looksSecret } from '../../secrets/secret-looks.ts';
import type { CredentialInput, ValueInput } from './value-input.ts';

/** A definition with values in the form of a registration, so that it can be sent back: `***` then keeps the stored value. */
export type Shown<Definition extends SourceDefinition> = Omit<
  Definition,
  'environment' | 'headers' | 'credential' | 'discovery_credential'
> & {
  environment: Record<string, ValueInput>;
  headers: Record<string, ValueInput>;
  credential: CredentialInput;
  discovery_credential: CredentialInput | null;
};

/** [ENV-4] The fields of every definition as the API shows them: secrets as `***`. */
export function showValues<Definition extends SourceDefinition>(definition: Definition): Shown<Definition> {
  const secretNames = new Set(definition.env_definitions.filter(({ secret }) => secret).map(({ name }) => name));
  const show = (name: string, value: NamedValue): ValueInput => showValue(value, secretNames.has(name) || looksSecret(name));
  return {
    ...definition,
    server_url: definition.server_url === null ? null : maskAddress(definition.server_url),
    environment: mapValues(definition.environment, show),
    headers: mapValues(definition.headers, show),
    credential: showCredential(definition.credential),
    discovery_credential: definition.discovery_credential && showCredential(definition.discovery_credential),
  };
}

/** A secret of the source itself is always `***`; a secret that every source may use is shown by its name. */
function showValue(value: NamedValue, secret: boolean): ValueInput {
  if ('secret_ref' in value) return ownerOf(value.secret_ref) === undefined ? value : hiddenValue;
  return isSecretText(value.value, secret) ? hiddenValue : value.value;
}

export function isSecretText(text: string, secret: boolean): boolean {
  return text !== '' && !hasReference(text) && (secret || looksLikeSecretValue(text));
}

function showCredential(credential: Credential): CredentialInput {
  // Only a user name can be plain text.
  return mapSecrets<NamedValue, ValueInput>(credential, (value) =>
    typeof value === 'string' ? showValue({ value }, false) : showValue(value, true),
  );
}

function mapValues<Value, Result>(
  values: Readonly<Record<string, Value>>,
  map: (name: string, value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(name, value)]));
}
