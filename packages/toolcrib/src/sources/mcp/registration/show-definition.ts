import { mapSecrets } from '../../../model/credential.ts';
import type { Json } from '../../../model/json.ts';
import type { Credential, McpDefinition, NamedValue } from '../../../model/mcp-definition.ts';
import { ownerOf } from '../../../secrets/secret-name.ts';
import { hiddenValue } from '../../../secrets/secret.ts';
import { maskAddress } from './mask-address.ts';
import { hasReference, looksLikeSecretValue, looksSecret } from './secret-looks.ts';
import type { CredentialInput, ValueInput } from './value-input.ts';

/** A definition with its values as a registration takes them: what is shown can be sent back, and `***` then keeps what is stored. */
export interface ShownDefinition extends Omit<McpDefinition, 'environment' | 'headers' | 'credential' | 'discovery_credential'> {
  environment: Record<string, ValueInput>;
  headers: Record<string, ValueInput>;
  credential: CredentialInput;
  discovery_credential: CredentialInput | null;
  is_remote: boolean;
}

/** [ENV-4] A definition as the API shows it: secrets as `***`. */
export function showDefinition(definition: McpDefinition): ShownDefinition {
  const secretNames = new Set(definition.env_definitions.filter(({ secret }) => secret).map(({ name }) => name));
  const show = (name: string, value: NamedValue): ValueInput => showValue(value, secretNames.has(name) || looksSecret(name));
  return {
    ...definition,
    url: definition.url === null ? null : maskAddress(definition.url),
    server_url: definition.server_url === null ? null : maskAddress(definition.server_url),
    is_remote: definition.server_url !== null,
    environment: mapValues(definition.environment, show),
    headers: mapValues(definition.headers, show),
    credential: showCredential(definition.credential),
    discovery_credential: definition.discovery_credential && showCredential(definition.discovery_credential),
    config: redactConfig(definition.config, { secret: false, secretNames }),
  };
}

/** A secret that was made for the source is only ever `***`; one that every source may use is shown by its name. */
function showValue(value: NamedValue, secret: boolean): ValueInput {
  if ('secret_ref' in value) return ownerOf(value.secret_ref) === undefined ? value : hiddenValue;
  return isSecretText(value.value, secret) ? hiddenValue : value.value;
}

function isSecretText(text: string, secret: boolean): boolean {
  return text !== '' && !hasReference(text) && (secret || looksLikeSecretValue(text));
}

function showCredential(credential: Credential): CredentialInput {
  return mapSecrets<NamedValue, ValueInput>(credential, (value) => showValue(value, true));
}

/** Nobody has told us which parts of it are secret, so names and values are judged by their looks. */
function redactConfig(value: Json, { secret, secretNames }: { secret: boolean; secretNames: ReadonlySet<string> }): Json {
  if (typeof value === 'string') return isSecretText(value, secret) ? hiddenValue : value;
  if (typeof value === 'number') return secret ? hiddenValue : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redactConfig(item, { secret, secretNames }));
  const inner = Object.entries(value).map(([name, item]) => {
    const isSecret = secret || secretNames.has(name) || looksSecret(name);
    return [name, redactConfig(item, { secret: isSecret, secretNames })];
  });
  return Object.fromEntries(inner) as Json;
}

function mapValues<Value, Result>(
  values: Readonly<Record<string, Value>>,
  map: (name: string, value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(name, value)]));
}
