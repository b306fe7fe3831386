import { UsageError } from '../../../model/usage-error.ts';
import { headerOfVariable } from '../../upstream/header-rules.ts';
import type { AddRequest } from '../command-line.ts';
import type { CredentialInput } from '../value-input.ts';
import { takeBasic } from './basic-credential.ts';
import { givenHeaders } from './given-headers.ts';
import type { AddressOption, VariableOption } from './shared-options.ts';

/** The headers and the credential for an HTTP service: a bearer token is a credential, other variables are headers. */
export function serviceCredential({ given, variables }: Pick<AddRequest<AddressOption | VariableOption>, 'given' | 'variables'>): {
  headers?: Record<string, string>;
  credential?: CredentialInput;
} {
  const basic = takeBasic(given, variables);
  const { BEARER_TOKEN: token, ...rest } = basic.rest;
  const headers = new Map(Object.entries(givenHeaders(given)));
  for (const [name, value] of Object.entries(rest)) {
    const header = headerOfVariable(name, value);
    if (header === undefined)
      throw new UsageError(
        `An API has no variable ${name}. Use BEARER_TOKEN for a token, API_KEY for a key, or MCP_HEADER_X_Y for a header X-Y`,
      );
    headers.set(...header);
  }
  if (token !== undefined && given.on('oauth')) throw new UsageError('Give --oauth or BEARER_TOKEN, not both', { field: 'oauth' });
  return {
    ...(headers.size === 0 ? {} : { headers: Object.fromEntries(headers) }),
    ...(token === undefined ? {} : { credential: { type: 'bearer', token } }),
    ...(given.on('oauth') ? { credential: { type: 'oauth' } } : {}),
    ...(basic.credential === undefined ? {} : { credential: basic.credential }),
  };
}
