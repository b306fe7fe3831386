import type { OpenApiFormInput } from '../sources/openapi/registration/openapi-form.ts';
import type { WorkflowFormInput } from '../sources/workflow/registration/workflow-form.ts';
import { headerOfVariable } from '../sources/upstream/header-rules.ts';
import { basicOptions, takeBasic } from './add-basic.ts';
import { givenHeaders } from './add-headers.ts';
import type { AddOption } from './add-options.ts';
import type { DocumentTarget } from './document-target.ts';
import type { Given } from './given.ts';
import { UsageError } from './usage-error.ts';

/** Options that only a service with a document has, and those that only workflows have. */
export const openApiOptions = ['server-url', 'origin', 'server-variable', 'external-ref'] as const satisfies AddOption[];
export const workflowOptions = ['source'] as const satisfies AddOption[];

/** [SRC-5] [WF-1] The part of a registration that is about the document. */
export function documentFields(
  given: Given<AddOption>,
  { type, written, text }: DocumentTarget,
  variables: Record<string, string>,
): Omit<OpenApiFormInput, 'name'> | Omit<WorkflowFormInput, 'name'> {
  const place = text === null ? { url: written } : { text };
  const insecure = given.on('allow-insecure') ? { allow_insecure: true } : {};
  if (type === 'workflow') {
    refuse(
      given,
      ['header', 'oauth', ...basicOptions, 'env', 'secret', ...openApiOptions],
      'is not for workflows: their steps call other sources',
    );
    const sources = pairs(given, 'source');
    return { source_type: 'workflow', workflow: { ...place, ...(sources === undefined ? {} : { sources }) }, ...insecure };
  }
  refuse(given, workflowOptions, 'is for workflows');
  const serverUrl = given.text('server-url');
  const server_variables = pairs(given, 'server-variable');
  const origins = given.list('origin');
  const external_refs = given.list('external-ref');
  const openapi = {
    ...place,
    ...(serverUrl === undefined ? {} : { server_url: serverUrl }),
    ...(origins.length === 0 ? {} : { origins }),
    ...(server_variables === undefined ? {} : { server_variables }),
    ...(external_refs.length === 0 ? {} : { external_refs }),
  };
  return { source_type: 'openapi', openapi, ...identity(given, variables), ...insecure };
}

/** As whom the service is spoken to: what would be headers of a server is so here, and a bearer token is a credential. */
function identity(given: Given<AddOption>, variables: Record<string, string>): Pick<OpenApiFormInput, 'headers' | 'credential'> {
  const basic = takeBasic(given, variables);
  const { BEARER_TOKEN: token, ...rest } = basic.rest;
  const headers = new Map(Object.entries(givenHeaders(given)));
  for (const [name, value] of Object.entries(rest)) {
    const header = headerOfVariable(name, value);
    if (header === undefined)
      throw new UsageError(`A service has no variable ${name}: BEARER_TOKEN is its token, API_KEY its key, MCP_HEADER_X_Y its header X-Y`);
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

function pairs(given: Given<AddOption>, option: 'server-variable' | 'source'): Record<string, string> | undefined {
  const written = given.list(option).map((pair): [string, string] => {
    const equals = pair.indexOf('=');
    if (equals < 1) throw new UsageError(`--${option} must be NAME=VALUE, not ${JSON.stringify(pair)}`, { field: option });
    return [pair.slice(0, equals), pair.slice(equals + 1)];
  });
  return written.length === 0 ? undefined : Object.fromEntries(written);
}

function refuse(given: Given<AddOption>, options: readonly AddOption[], why: string): void {
  for (const option of options) if (given.origin(option) !== undefined) throw new UsageError(`--${option} ${why}`, { field: option });
}
