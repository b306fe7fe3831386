import { mapSecrets } from '../../../model/credential.ts';
import type { Json } from '../../../model/json.ts';
import type { Credential, McpDefinition, NamedValue } from '../../../model/mcp-definition.ts';
import { hiddenValue } from '../../../secrets/secret.ts';
import type { McpRegistration } from './forms.ts';
import { invalid } from './invalid.ts';
import type { CredentialInput, ValueInput } from './value-input.ts';

/**
 * [ENV-4] A registration that replaces a stored one, with the stored value wherever it says `***`. A `***` for which nothing is stored
 * stays, and is refused when the registration is normalised.
 */
export function mergeUpdate(known: McpDefinition, form: McpRegistration, { keepSecrets = true } = {}): McpRegistration {
  const stored: McpDefinition = keepSecrets ? known : { ...known, ...nothingStored };
  // [INV-3] What waits for approval must not slip in because somebody corrected a variable.
  const merged = { ...form, pinning: form.pinning ?? stored.pinning };
  if (form.mcp_env_vars !== undefined) merged.mcp_env_vars = keepValues(form.mcp_env_vars, stored.environment);
  if (form.headers !== undefined) merged.headers = keepValues(form.headers, spelledAs(form.headers, stored.headers));
  if (form.credential !== undefined) merged.credential = keepCredential(form.credential, stored.credential);
  if (form.discovery_credential !== undefined)
    merged.discovery_credential = keepCredential(form.discovery_credential, stored.discovery_credential);
  if (form.mcp_config !== undefined) merged.mcp_config = keepConfig(form.mcp_config, stored.config, 'mcp_config');
  if (form.mcp_container?.env !== undefined)
    merged.mcp_container = { ...form.mcp_container, env: keepValues(form.mcp_container.env, stored.environment) };
  if (form.mcp !== undefined) {
    merged.mcp = { ...form.mcp };
    if (form.mcp.config !== undefined) merged.mcp.config = keepConfig(form.mcp.config, stored.config, 'mcp.config');
    const variables = Object.entries(form.mcp.env_vars ?? {}).map(([name, { value, ...rest }]) => {
      const known = value === hiddenValue ? lookUp(stored.environment, name) : undefined;
      return [name, { ...rest, ...(known ?? (value === undefined ? {} : { value })) }] as const;
    });
    if (form.mcp.env_vars !== undefined) merged.mcp.env_vars = Object.fromEntries(variables);
  }
  return merged;
}

/** For a server that has moved: what was given for the old place is not known at the new one. */
const nothingStored = { environment: {}, headers: {}, credential: { type: 'none' }, discovery_credential: null, config: {} } as const;

function keepValues(
  values: Readonly<Record<string, ValueInput>>,
  stored: Readonly<Record<string, NamedValue>>,
): Record<string, ValueInput> {
  return Object.fromEntries(Object.entries(values).map(([name, input]) => [name, keep(input, lookUp(stored, name))]));
}

/** The names of headers are the same in capital and small letters. */
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

function keepConfig(value: Json, stored: Json | undefined, field: string): Json {
  if (value === hiddenValue) {
    if (stored === undefined)
      throw invalid(field, `${hiddenValue} is how a secret is shown, and none is stored for this address. Give the value itself`);
    return stored;
  }
  if (typeof value !== 'object' || value === null) return value;
  const inner = (name: string, item: Json): Json => keepConfig(item, memberOf(stored, name), `${field}.${name}`);
  if (Array.isArray(value)) return value.map((item, index) => inner(String(index), item));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, inner(name, item)]));
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, Json>)[name];
}

function lookUp(values: Readonly<Record<string, NamedValue>>, name: string): NamedValue | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}
