import { memberOf } from '../../../model/json-pointer.ts';
import type { Json } from '../../../model/json.ts';
import type { McpDefinition } from '../mcp-definition.ts';
import type { NamedValue } from '../../../model/source-definition.ts';
import { hiddenValue } from '../../../secrets/secret.ts';
import type { McpRegistration } from './forms.ts';
import type { PackageForm, PackageVariable } from './package-form.ts';
import { invalid } from '../../registration/invalid.ts';
import { keepStored, keepValues, lookUp, nothingStored } from '../../registration/keep-stored.ts';

/**
 * [ENV-4] A registration that replaces a stored one, with the stored value in place of every `***`. A `***` without a stored value is
 * refused, here or when the registration is normalised.
 */
export function mergeUpdate(known: McpDefinition, form: McpRegistration, { keepSecrets = true } = {}): McpRegistration {
  const stored: McpDefinition = keepSecrets ? known : { ...known, ...nothingStored, config: {} };
  const merged: McpRegistration = { ...form, ...keepStored(form, stored) };
  // A remote server's variables with the names of headers were stored among its headers.
  const values = { ...stored.headers, ...stored.environment };
  if (form.mcp_env_vars !== undefined) merged.mcp_env_vars = keepValues(form.mcp_env_vars, values);
  if (form.mcp_config !== undefined) merged.mcp_config = keepConfig(form.mcp_config, stored.config, 'mcp_config');
  if (form.mcp_container?.env !== undefined)
    merged.mcp_container = { ...form.mcp_container, env: keepValues(form.mcp_container.env, stored.environment) };
  if (form.mcp !== undefined) merged.mcp = { ...form.mcp, ...keepPackage(form.mcp, stored, 'mcp.') };
  Object.assign(merged, keepPackage(form, stored, ''));
  return merged;
}

/** The values of a server described by its package, under `mcp` or at the top level. */
function keepPackage({ config, env_vars: variables }: PackageForm, stored: McpDefinition, at: string): Partial<PackageForm> {
  const merged: Partial<PackageForm> = {};
  if (config !== undefined) merged.config = keepConfig(config, stored.config, `${at}config`);
  const keep = (name: string, variable: string | PackageVariable) =>
    keepVariable(variable, lookUp({ ...stored.headers, ...stored.environment }, name));
  if (Array.isArray(variables)) merged.env_vars = variables.map((one) => ({ ...one, ...keep(one.name, one), name: one.name }));
  else if (variables != null) merged.env_vars = Object.fromEntries(Object.entries(variables).map(([name, one]) => [name, keep(name, one)]));
  return merged;
}

function keepVariable(variable: string | PackageVariable, known: NamedValue | undefined): PackageVariable {
  const written = typeof variable === 'string' ? { value: variable, is_secret: false, required: false } : variable;
  return written.value === hiddenValue && known !== undefined ? { ...written, value: null, ...known } : written;
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
