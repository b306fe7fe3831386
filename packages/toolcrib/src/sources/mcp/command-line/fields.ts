import { resolve } from 'node:path';
import { UsageError } from '../../../model/usage-error.ts';
import type { AddRequest, GivenOptions } from '../../registration/command-line.ts';
import { takeBasic } from '../../registration/command-line/basic-credential.ts';
import { givenChoice } from '../../registration/command-line/given-choice.ts';
import { givenHeaders } from '../../registration/command-line/given-headers.ts';
import { givenPairs } from '../../registration/command-line/given-pairs.ts';
import type { McpRegistrationInput } from '../registration/forms.ts';
import { isLegacySseAddress } from '../registration/legacy-sse-address.ts';
import { containerFields } from './container-fields.ts';
import type { McpOption } from './options.ts';
import type { McpTarget } from './target.ts';

type Given = GivenOptions<McpOption>;

const lifecycles = ['singleton', 'transient'] as const;
const transports = ['sse', 'streamable_http'] as const;

/** [SRC-1] The registration of an MCP server that the command line asks for. */
export function mcpFields(request: AddRequest<McpOption>, target: McpTarget): McpRegistrationInput {
  const { given, variables } = request;
  const transport = givenChoice(given, 'transport', transports) ?? usualTransport(target);
  const { credential, rest } = takeBasic(given, variables);
  const takesVariables = target.kind !== 'container' && target.kind !== 'registry';
  return {
    ...(takesVariables ? named('mcp_env_vars', rest) : {}),
    ...(transport === undefined ? {} : { mcp_transport_type: transport }),
    ...(credential === undefined ? {} : { credential }),
    ...targetFields({ ...request, variables: rest }, target),
  };
}

/** Undefined if Toolcrib's server decides. */
function usualTransport(target: McpTarget): (typeof transports)[number] | undefined {
  return target.kind === 'address' && isLegacySseAddress(target.written) ? 'sse' : undefined;
}

function targetFields(request: AddRequest<McpOption>, target: McpTarget): McpRegistrationInput {
  const { given, variables } = request;
  switch (target.kind) {
    case 'address':
      return { mcp_server_url: target.written, ...connectionFields(given) };
    case 'plugin':
      return {
        mcp_plugin_dir: target.directory,
        ...(target.args.length === 0 ? {} : { mcp_args: [...target.args] }),
        ...named('mcp_config', givenPairs(given, 'setting')),
        ...lifecycleFields(given),
      };
    case 'registry':
      return {
        source: target.source,
        ...named('env_vars', variables),
        ...named('config', givenPairs(given, 'setting')),
        ...connectionFields(given),
        ...lifecycleFields(given),
        ...folderFields(request, undefined),
      };
    case 'container':
      return { mcp_container: containerFields(given, target, variables), ...lifecycleFields(given) };
    case 'package':
      return { mcp_command: target.command, ...lifecycleFields(given), ...folderFields(request, undefined) };
    case 'program':
      // A path like ./server.py means a file in this folder, so the program is started in this folder.
      return { mcp_command: target.command, ...lifecycleFields(given), ...folderFields(request, '.') };
  }
}

/** The field, or nothing if there are no values. */
function named<Name extends string>(name: Name, values: Readonly<Record<string, string>> = {}): { [Key in Name]?: Record<string, string> } {
  return Object.keys(values).length === 0 ? {} : ({ [name]: values } as { [Key in Name]: Record<string, string> });
}

function connectionFields(given: Given): McpRegistrationInput {
  return {
    ...named('headers', givenHeaders(given)),
    ...(given.on('oauth') ? { credential: { type: 'oauth' }, discovery_credential: { type: 'oauth' } } : {}),
    ...(given.on('allow-insecure') ? { allow_insecure: true } : {}),
  };
}

function lifecycleFields(given: Given): McpRegistrationInput {
  const lifecycle = givenChoice(given, 'lifecycle', lifecycles);
  const standby = given.text('standby') === undefined ? undefined : given.number('standby', { least: 0, most: 32 });
  if (standby !== undefined && lifecycle !== 'transient')
    throw new UsageError('--standby is for --lifecycle transient: a singleton is one process', { field: 'standby' });
  return { mcp_lifecycle_mode: lifecycle, ...(standby === undefined ? {} : { standby }) };
}

/** The working directory. It is resolved here only if the server runs on this machine. */
function folderFields({ given, serverIsHere }: AddRequest<McpOption>, usual: string | undefined): Pick<McpRegistrationInput, 'mcp_cwd'> {
  const written = given.text('cwd');
  const folder = serverIsHere ? (written ?? usual) : written;
  if (folder === undefined) return {};
  return { mcp_cwd: serverIsHere ? resolve(folder) : folder };
}
