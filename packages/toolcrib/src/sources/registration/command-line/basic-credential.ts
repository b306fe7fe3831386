import { UsageError } from '../../../model/usage-error.ts';
import type { GivenOptions } from '../command-line.ts';
import type { CredentialInput } from '../value-input.ts';
import type { AddressOption, VariableOption } from './shared-options.ts';

const passwordName = 'BASIC_PASSWORD';
const keyName = 'BASIC_KEY';

/** The secrets to ask for: those of `--secret`, and the password or key of basic authentication. */
export function askedSecrets(given: GivenOptions<AddressOption | VariableOption>): string[] {
  const secrets = given.list('secret');
  const wanted = secretOf(given);
  const isGiven = secrets.some((written) => written === wanted || written.startsWith(`${wanted}=`));
  return wanted === undefined || isGiven ? secrets : [...secrets, wanted];
}

/** [ID-2] The credential for `--basic-user` or `--basic-key`, and the variables without its secret. */
export function takeBasic(
  given: GivenOptions<AddressOption>,
  variables: Readonly<Record<string, string>>,
): { credential?: CredentialInput; rest: Readonly<Record<string, string>> } {
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

function secretOf(given: GivenOptions<AddressOption>): string | undefined {
  const username = given.text('basic-user');
  if (username === undefined) return given.on('basic-key') ? keyName : undefined;
  if (given.on('basic-key')) throw new UsageError('Give --basic-user or --basic-key, not both', { field: 'basic-key' });
  // RFC 7617 §2: everything after the first colon is the password. The message does not repeat the value, which may contain one.
  if (username.includes(':'))
    throw new UsageError('--basic-user takes only the user name; the password is asked for', { field: 'basic-user' });
  return passwordName;
}
