import type { NamedValue, SourceDefinition } from '../../model/source-definition.ts';
import { sourceSecretName } from '../../secrets/secret-name.ts';
import { referencesIn } from '../../secrets/secret-looks.ts';

interface Referring {
  id: string;
  definition: SourceDefinition;
  /** Parts of the definition that only its kind has, and that may refer to secrets. */
  parts: readonly unknown[];
}

/** Whether a source refers to this secret, so that without it the source could not start, or not as intended. */
export function namesSecretIn({ id, definition, parts }: Referring, secret: string): boolean {
  const { environment, env_definitions, headers, credential, discovery_credential, server_url } = definition;
  const isOwn = (variable: string) => sourceSecretName(id, variable) === secret;
  // A variable of that name takes precedence over the secret, except within its own value.
  const inText = (text: string, within?: string) =>
    referencesIn(text).some((name) => isOwn(name) || (name === secret && (name === within || !Object.hasOwn(environment, name))));
  const inValue = (value: NamedValue, within?: string) =>
    'secret_ref' in value ? value.secret_ref === secret : inText(value.value, within);
  /** The fields of every type of credential are texts, named values, or groups of them. */
  function inFields(field: unknown): boolean {
    if (typeof field === 'string') return inText(field);
    if (typeof field !== 'object' || field === null) return false;
    return 'secret_ref' in field ? field.secret_ref === secret : Object.values(field).some(inFields);
  }
  return (
    Object.entries(environment).some(([name, value]) => inValue(value, name)) ||
    env_definitions.some(({ name }) => isOwn(name)) ||
    Object.values(headers).some((value) => inValue(value)) ||
    [credential, discovery_credential, server_url, ...parts].some(inFields)
  );
}
