import { resolve } from 'node:path';
import { pinnings } from '../model/source-definition.ts';
import { isLoopbackHost } from '../net/is-loopback-host.ts';
import type { McpRegistrationInput } from '../sources/mcp/registration/forms.ts';
import { isLegacySseAddress } from '../sources/mcp/registration/legacy-sse-address.ts';
import type { SourceFormInput } from '../sources/registration/source-form.ts';
import { basicOptions, takeBasic } from './add-basic.ts';
import { addChoice } from './add-choice.ts';
import { containerFields, containerOptions } from './add-container.ts';
import { documentFields, openApiOptions, workflowOptions } from './add-document.ts';
import { givenHeaders } from './add-headers.ts';
import { addName } from './add-name.ts';
import type { AddOption } from './add-options.ts';
import type { AddTarget } from './add-target.ts';
import type { DocumentTarget } from './document-target.ts';
import type { Given } from './given.ts';
import { UsageError } from './usage-error.ts';

const lifecycles = ['singleton', 'transient'] as const;
const transports = ['sse', 'streamable_http'] as const;

const ofAddresses = ['header', 'oauth', 'allow-insecure', ...basicOptions] as const satisfies AddOption[];

/** Options that mean nothing for a target of this kind, and why. */
const senseless: Record<AddTarget['kind'], { options: AddOption[]; why: string }> = {
  address: { options: ['version', 'lifecycle', 'standby', 'cwd'], why: 'is for servers that are started here, not for an address' },
  plugin: { options: [...ofAddresses, 'version', 'cwd'], why: 'is not for a folder with a manifest' },
  package: { options: [...ofAddresses], why: 'is not for a package' },
  program: { options: [...ofAddresses, 'version'], why: 'is not for a program' },
  document: { options: ['version', 'lifecycle', 'standby', 'cwd', 'transport'], why: 'is for MCP servers, not for a document' },
  registry: { options: ['transport'], why: 'is not for a server of a registry, which says it' },
  container: {
    options: [...ofAddresses, 'version', 'cwd', 'transport'],
    why: 'is not for a server inside a container',
  },
};

/** [SRC-1] The registration that the command line asks for. */
export function addRegistration(given: Given<AddOption>, target: AddTarget, variables: Record<string, string>): SourceFormInput {
  const { options, why } = senseless[target.kind];
  for (const option of options) if (given.origin(option) !== undefined) throw new UsageError(`--${option} ${why}`, { field: option });
  const stray = target.kind === 'container' ? undefined : containerOptions.find((option) => given.origin(option) !== undefined);
  if (stray !== undefined) throw new UsageError(`--${stray} is for a server inside a container: --container or --image`, { field: stray });
  const ofDocument =
    target.kind === 'document' ? undefined : [...openApiOptions, ...workflowOptions].find((option) => given.origin(option) !== undefined);
  if (ofDocument !== undefined) throw new UsageError(`--${ofDocument} is for a document: OpenAPI or Arazzo`, { field: ofDocument });
  const namespace = given.text('namespace');
  const transport = oneOf(given, 'transport', transports) ?? usualTransport(target);
  const pinning = oneOf(given, 'pinning', pinnings);
  const timeout = given.text('startup-timeout') === undefined ? undefined : given.number('startup-timeout', { least: 1, most: 3_600_000 });
  const common = {
    name: given.text('name') ?? addName(target),
    ...(namespace === undefined ? {} : { namespace }),
    ...(pinning === undefined ? {} : { pinning }),
    ...(timeout === undefined ? {} : { resilience: { startupTimeoutMs: timeout } }),
    ...addChoice(given),
  };
  if (target.kind === 'document') return { ...common, ...documentFields(given, target, variables) };
  const setting = target.kind === 'plugin' || target.kind === 'registry' ? undefined : given.origin('setting');
  if (setting !== undefined)
    throw new UsageError('--setting is for a server of a registry, or a folder with a manifest', { field: 'setting' });
  const { credential, rest } = takeBasic(given, variables);
  const hasVariables = Object.keys(rest).length > 0 && target.kind !== 'container' && target.kind !== 'registry';
  return {
    ...common,
    ...(hasVariables ? { mcp_env_vars: rest } : {}),
    ...(transport === undefined ? {} : { mcp_transport_type: transport }),
    ...(credential === undefined ? {} : { credential }),
    ...targetFields(given, target, rest),
  };
}

/** Undefined where the server decides. */
function usualTransport(target: AddTarget): (typeof transports)[number] | undefined {
  return target.kind === 'address' && isLegacySseAddress(target.url) ? 'sse' : undefined;
}

function targetFields(
  given: Given<AddOption>,
  target: Exclude<AddTarget, DocumentTarget>,
  variables: Record<string, string>,
): McpRegistrationInput {
  switch (target.kind) {
    case 'address':
      return { mcp_server_url: target.url, ...connectionFields(given) };
    case 'plugin':
      return {
        mcp_plugin_dir: target.directory,
        ...(target.args.length === 0 ? {} : { mcp_args: target.args }),
        ...named('mcp_config', settings(given)),
        ...lifecycleFields(given),
      };
    case 'registry':
      return {
        source: target.source,
        ...named('env_vars', variables),
        ...named('config', settings(given)),
        ...connectionFields(given),
        ...lifecycleFields(given),
        ...folderFields(given, undefined),
      };
    case 'container':
      return { mcp_container: containerFields(given, target, variables), ...lifecycleFields(given) };
    case 'package':
      return { mcp_command: target.command, ...lifecycleFields(given), ...folderFields(given, undefined) };
    case 'program':
      // A path like ./server.py means the one here, so that is where it is started.
      return { mcp_command: target.command, ...lifecycleFields(given), ...folderFields(given, '.') };
  }
}

/** What a manifest or the description in a registry leaves open. */
function settings(given: Given<AddOption>): Record<string, string> {
  return Object.fromEntries(
    given.list('setting').map((pair): [string, string] => {
      const equals = pair.indexOf('=');
      // Not repeated: it may be a secret.
      if (equals < 1) throw new UsageError('--setting must be NAME=VALUE', { field: 'setting' });
      return [pair.slice(0, equals), pair.slice(equals + 1)];
    }),
  );
}

/** Nothing at all where there are none. */
function named<Name extends string>(name: Name, values: Record<string, string>): { [Key in Name]?: Record<string, string> } {
  return Object.keys(values).length === 0 ? {} : ({ [name]: values } as { [Key in Name]: Record<string, string> });
}

function connectionFields(given: Given<AddOption>): McpRegistrationInput {
  const headers = givenHeaders(given);
  return {
    ...named('headers', headers),
    ...(given.on('oauth') ? { credential: { type: 'oauth' }, discovery_credential: { type: 'oauth' } } : {}),
    ...(given.on('allow-insecure') ? { allow_insecure: true } : {}),
  };
}

function lifecycleFields(given: Given<AddOption>): McpRegistrationInput {
  const lifecycle = oneOf(given, 'lifecycle', lifecycles);
  const standby = given.text('standby') === undefined ? undefined : given.number('standby', { least: 0, most: 32 });
  if (standby !== undefined && lifecycle !== 'transient')
    throw new UsageError('--standby is for --lifecycle transient: a singleton is one process', { field: 'standby' });
  return { mcp_lifecycle_mode: lifecycle, ...(standby === undefined ? {} : { standby }) };
}

/** Where it is started. A folder is one of this machine, unless the server is on another. */
function folderFields(given: Given<AddOption>, usual: string | undefined): Pick<McpRegistrationInput, 'mcp_cwd'> {
  const written = given.text('cwd');
  const isHere = isLoopbackHost(URL.parse(given.required('url'))?.hostname ?? '');
  const folder = isHere ? (written ?? usual) : written;
  if (folder === undefined) return {};
  return { mcp_cwd: isHere ? resolve(folder) : folder };
}

function oneOf<const Value extends string>(given: Given<AddOption>, option: AddOption, values: readonly Value[]): Value | undefined {
  const written = given.text(option);
  const value = values.find((known) => known === written);
  if (written !== undefined && value === undefined)
    throw new UsageError(`--${option} must be ${values.join(' or ')}, not ${JSON.stringify(written)}`, { field: option });
  return value;
}
