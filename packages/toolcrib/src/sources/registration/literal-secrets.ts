import { mapSecrets } from '../../model/credential.ts';
import { hiddenValue } from '../../secrets/secret.ts';
import { hasReference, looksLikeSecretValue, looksSecret } from '../../secrets/secret-looks.ts';
import { isSecretUsername } from './is-secret-username.ts';
import type { FieldPath } from './normalised-registration.ts';
import type { SourceForm } from './source-form.ts';
import { textOf, type CredentialInput, type ValueInput } from './value-input.ts';

/** [SRC-6] The fields of any registration that contain a secret itself, not a reference to one. */
export function literalSecretsIn({ credential, discovery_credential, headers }: SourceForm): FieldPath[] {
  return [
    ...inCredential('credential', credential),
    ...inCredential('discovery_credential', discovery_credential),
    ...literalValues(['headers'], headers),
  ];
}

function inCredential(field: string, credential: CredentialInput | undefined): FieldPath[] {
  const found: FieldPath[] = [];
  if (credential === undefined) return found;
  mapSecrets<ValueInput, void>(credential, (value, name) => {
    const secret = name !== 'username' || isSecretUsername(credential);
    if (isLiteral(textOf(value), secret)) found.push([field, name]);
  });
  return found;
}

export function literalValues(at: FieldPath, values: Readonly<Record<string, ValueInput>> = {}): FieldPath[] {
  return Object.entries(values).flatMap(([name, value]) => (isLiteral(textOf(value), looksSecret(name)) ? [[...at, name]] : []));
}

/** `***` counts as a secret: it stands for a value that a server has stored, which a file cannot refer to. */
export function isLiteral(text: string, secret: boolean): boolean {
  if (text === '' || hasReference(text)) return false;
  return secret || text === hiddenValue || looksLikeSecretValue(text);
}
