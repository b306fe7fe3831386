import { looksLikeSecretValue } from '../../secrets/secret-looks.ts';
import { textOf, type CredentialInput } from './value-input.ts';

/**
 * Whether the user name of a basic credential is a secret: it is declared as one, it looks like one, or the password is empty, so that the
 * user name alone grants access.
 */
export function isSecretUsername(credential: CredentialInput): boolean {
  if (credential.type !== 'basic') return false;
  const { username, password } = credential;
  const says = typeof username === 'object' && 'is_secret' in username && username.is_secret;
  const alone = typeof password === 'string' ? password === '' : 'value' in password && password.value === '';
  return says || alone || looksLikeSecretValue(textOf(username));
}
