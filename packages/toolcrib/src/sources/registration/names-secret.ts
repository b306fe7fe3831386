import type { NamedValue } from '../../model/source-definition.ts';
import type { AnyDefinition } from '../../model/source.ts';
import { sourceSecretName } from '../../secrets/secret-name.ts';
import { referencesIn } from './secret-looks.ts';

/** Whether a source could not be started any more, or not as it was meant, without this secret. */
export function namesSecret({ id, definition }: { id: string; definition: AnyDefinition }, secret: string): boolean {
  const { environment, env_definitions, headers, credential, discovery_credential, server_url } = definition;
  const place = 'document' in definition ? definition.document : definition.command;
  const isOwn = (variable: string) => sourceSecretName(id, variable) === secret;
  // A variable of that name comes before the secret, except within itself.
  const inText = (text: string, within?: string) =>
    referencesIn(text).some((name) => isOwn(name) || (name === secret && (name === within || !Object.hasOwn(environment, name))));
  const inValue = (value: NamedValue, within?: string) =>
    'secret_ref' in value ? value.secret_ref === secret : inText(value.value, within);
  /** Whatever kind of credential it is, its fields are texts, named values, or groups of them. */
  function inFields(field: unknown): boolean {
    if (typeof field === 'string') return inText(field);
    if (typeof field !== 'object' || field === null) return false;
    return 'secret_ref' in field ? field.secret_ref === secret : Object.values(field).some(inFields);
  }
  return (
    Object.entries(environment).some(([name, value]) => inValue(value, name)) ||
    env_definitions.some(({ name }) => isOwn(name)) ||
    Object.values(headers).some((value) => inValue(value)) ||
    [credential, discovery_credential, place, server_url].some(inFields)
  );
}
