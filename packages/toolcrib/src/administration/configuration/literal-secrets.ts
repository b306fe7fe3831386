import { mapSecrets } from '../../model/credential.ts';
import type { Json } from '../../model/json.ts';
import { hiddenValue } from '../../secrets/secret.ts';
import type { PackageForm } from '../../sources/mcp/registration/package-form.ts';
import { isSecretUsername } from '../../sources/registration/is-secret-username.ts';
import { hasReference, looksLikeSecretValue, looksSecret } from '../../sources/registration/secret-looks.ts';
import type { SourceForm } from '../../sources/registration/source-form.ts';
import { textOf, type CredentialInput, type ValueInput } from '../../sources/registration/value-input.ts';

type Path = (string | number)[];

/** [SRC-6] Where a registration has a secret in it, as opposed to the name of one. A file is copied, sent around and kept for ever. */
export function literalSecrets(form: SourceForm): Path[] {
  const discovery = inCredential('discovery_credential', form.discovery_credential);
  if (form.source_type === 'workflow') return discovery;
  const shared = [...inCredential('credential', form.credential), ...discovery, ...inValues(['headers'], form.headers)];
  if (form.source_type === 'openapi') return shared;
  return [
    ...shared,
    ...inValues(['mcp_env_vars'], form.mcp_env_vars),
    ...inValues(['mcp_container', 'env'], form.mcp_container?.env),
    ...inConfig(['mcp_config'], form.mcp_config, false),
    ...inPackage(['mcp'], form.mcp ?? {}),
    ...inPackage([], form),
  ];
}

function inCredential(field: string, credential: CredentialInput | undefined): Path[] {
  const found: Path[] = [];
  if (credential === undefined) return found;
  mapSecrets<ValueInput, void>(credential, (value, name) => {
    const secret = name !== 'username' || isSecretUsername(credential);
    if (isLiteral(textOf(value), secret)) found.push([field, name]);
  });
  return found;
}

function inValues(at: Path, values: Readonly<Record<string, ValueInput>> = {}): Path[] {
  return Object.entries(values).flatMap(([name, value]) => (isLiteral(textOf(value), looksSecret(name)) ? [[...at, name]] : []));
}

function inPackage(at: Path, { env_vars: variables, config }: PackageForm): Path[] {
  const written = Array.isArray(variables)
    ? variables.map((variable, index) => [variable.name, variable, index] as const)
    : Object.entries(variables ?? {}).map(([name, variable]) => [name, variable, name] as const);
  const found = written.flatMap(([name, variable, key]) => {
    const { value, is_secret } = typeof variable === 'string' ? { value: variable, is_secret: false } : variable;
    return isLiteral(value ?? '', is_secret || looksSecret(name)) ? [[...at, 'env_vars', key]] : [];
  });
  return [...found, ...inConfig([...at, 'config'], config, false)];
}

function inConfig(at: Path, value: Json | undefined, secret: boolean): Path[] {
  if (typeof value === 'string' || typeof value === 'number') return isLiteral(String(value), secret) ? [at] : [];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => inConfig([...at, index], item, secret));
  return Object.entries(value).flatMap(([name, item]) => inConfig([...at, name], item, secret || looksSecret(name)));
}

/** `***` stands for a secret that some server has, which a file cannot know. */
function isLiteral(text: string, secret: boolean): boolean {
  if (text === '' || hasReference(text)) return false;
  return secret || text === hiddenValue || looksLikeSecretValue(text);
}
