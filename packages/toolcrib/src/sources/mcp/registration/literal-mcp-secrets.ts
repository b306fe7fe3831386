import type { Json } from '../../../model/json.ts';
import { looksSecret } from '../../../secrets/secret-looks.ts';
import { isLiteral, literalValues } from '../../registration/literal-secrets.ts';
import type { FieldPath } from '../../registration/normalised-registration.ts';
import type { McpRegistration } from './forms.ts';
import type { PackageForm } from './package-form.ts';

/** [SRC-6] The paths of the MCP-only fields that hold a secret itself, not the name of a stored secret. */
export function literalMcpSecrets(form: McpRegistration): FieldPath[] {
  return [
    ...literalValues(['mcp_env_vars'], form.mcp_env_vars),
    ...literalValues(['mcp_container', 'env'], form.mcp_container?.env),
    ...inConfig(['mcp_config'], form.mcp_config, false),
    ...inPackage(['mcp'], form.mcp ?? {}),
    ...inPackage([], form),
  ];
}

function inPackage(at: FieldPath, { env_vars: variables, config }: PackageForm): FieldPath[] {
  const written = Array.isArray(variables)
    ? variables.map((variable, index) => [variable.name, variable, index] as const)
    : Object.entries(variables ?? {}).map(([name, variable]) => [name, variable, name] as const);
  const found = written.flatMap(([name, variable, key]) => {
    const { value, is_secret } = typeof variable === 'string' ? { value: variable, is_secret: false } : variable;
    return isLiteral(value ?? '', is_secret || looksSecret(name)) ? [[...at, 'env_vars', key]] : [];
  });
  return [...found, ...inConfig([...at, 'config'], config, false)];
}

function inConfig(at: FieldPath, value: Json | undefined, secret: boolean): FieldPath[] {
  if (typeof value === 'string' || typeof value === 'number') return isLiteral(String(value), secret) ? [at] : [];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => inConfig([...at, index], item, secret));
  return Object.entries(value).flatMap(([name, item]) => inConfig([...at, name], item, secret || looksSecret(name)));
}
