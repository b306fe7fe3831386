import type { CredentialInput } from '../sources/registration/value-input.ts';
import type { AddOption } from './add-options.ts';
import type { Given } from './given.ts';
import { UsageError } from './usage-error.ts';

export const basicOptions = ['basic-user', 'basic-key'] as const satisfies AddOption[];

const passwordName = 'BASIC_PASSWORD';
const keyName = 'BASIC_KEY';

/** The secrets to ask for: those of `--secret`, and the password or key of basic authentication. */
export function askedSecrets(given: Given<AddOption>): string[] {
  const secrets = given.list('secret');
  const wanted = secretOf(given);
  const isGiven = secrets.some((written) => written === wanted || written.startsWith(`${wanted}=`));
  return wanted === undefined || isGiven ? secrets : [...secrets, wanted];
}

/** [ID-2] What `--basic-user` or `--basic-key` come to, and the variables without the secret that went into it. */
export function takeBasic(
  given: Given<AddOption>,
  variables: Record<string, string>,
): { credential?: CredentialInput; rest: Record<string, string> } {
  const name = secretOf(given);
  if (name === undefined) return { rest: variables };
  const option = name === keyName ? 'basic-key' : 'basic-user';
  if (given.on('oauth')) throw new UsageError(`Give --oauth or --${option}, not both`, { field: option });
  if (Object.hasOwn(variables, 'BEARER_TOKEN')) throw new UsageError(`Give BEARER_TOKEN or --${option}, not both`, { field: option });
  const { [name]: secret = '', ...rest } = variables;
  const username = given.text('basic-user');
  return {
    credential: { type: 'basic', ...(username === undefined ? { username: secret, password: '' } : { username, password: secret }) },
    rest,
  };
}

function secretOf(given: Given<AddOption>): string | undefined {
  const username = given.text('basic-user');
  if (username === undefined) return given.on('basic-key') ? keyName : undefined;
  if (given.on('basic-key')) throw new UsageError('Give --basic-user or --basic-key, not both', { field: 'basic-key' });
  // RFC 7617 §2: everything behind the first colon is the password. Not repeated: it may be there.
  if (username.includes(':')) throw new UsageError('--basic-user is the name alone; the password is asked for', { field: 'basic-user' });
  return passwordName;
}
