import type { McpDefinition } from '../mcp-definition.ts';
import type { CheckedCommand } from './checked-command.ts';
import type { Draft } from '../../registration/draft.ts';
import type { McpRegistration } from './forms.ts';
import { invalid } from '../../registration/invalid.ts';
import { localParts, runtimeOfScript, type LocalParts } from './local-server.ts';
import type { Manifest, ManifestPackage, ManifestRemote } from './manifest-model.ts';
import type { SlotFiller } from './manifest-slots.ts';
import { packageContainer, refuseContainer } from './package-container.ts';
import { namesDockerRun, packageCommand, withRuntime } from './package-command.ts';
import { readVariables, slotFiller, type GivenVariable } from './read-variables.ts';
import type { McpRegistrationContext } from './mcp-registration-context.ts';
import { remoteParts, type RemoteParts } from './remote-server.ts';

export interface DefinitionParts {
  parts: Partial<LocalParts & RemoteParts & Pick<McpDefinition, 'container' | 'looked_up'>>;
  /** The command to start; null for a remote server. */
  starts: CheckedCommand | null;
}

const variablesField = 'mcp_env_vars';

/** [SRC-1] The flat form: an address makes it remote, else a plugin directory or a command makes it local. */
export async function flatRegistration(draft: Draft, form: McpRegistration, context: McpRegistrationContext): Promise<DefinitionParts> {
  const { mcp_server_url: url, mcp_plugin_dir: directory, mcp_command: command } = form;
  if (url !== undefined) return remote(draft, form, { url, urlField: 'mcp_server_url', transport: remoteTransport(form) });
  if (directory === undefined && command === undefined) throw nowhere(form);
  if (form.mcp_transport_type === 'streamable_http')
    throw invalid('mcp_server_url', 'Streamable HTTP needs mcp_server_url: the address of a remote server');

  const manifest = directory === undefined ? undefined : await context.readManifest(directory);
  if (manifest === undefined && command === undefined)
    throw invalid('mcp_plugin_dir', 'The plugin directory has neither server.json nor plugin.json. Add one of them, or give mcp_command');
  const found = manifest?.packages.find(({ transport }) => transport !== 'streamable_http');
  if (manifest !== undefined && found === undefined && command === undefined) return remoteOfManifest(draft, form, manifest);
  return local(draft, form, { manifest, found, context });
}

function remoteTransport({ mcp_transport_type: type }: McpRegistration): 'sse' | 'streamable_http' {
  if (type === 'stdio')
    throw invalid('mcp_transport_type', 'A server at mcp_server_url uses streamable_http, or sse if it is an old server');
  return type ?? 'streamable_http';
}

function nowhere({ url }: McpRegistration): Error {
  const field = url !== undefined && /^https?:/i.test(url) ? 'mcp_server_url' : 'mcp_plugin_dir';
  return invalid(field, 'Say where the server is: mcp_server_url for a remote server; mcp_plugin_dir, mcp_command or mcp for a local one');
}

interface LocalFound {
  manifest: Manifest | undefined;
  found: ManifestPackage | undefined;
  context: McpRegistrationContext;
}

async function local(draft: Draft, form: McpRegistration, { manifest, found, context }: LocalFound): Promise<DefinitionParts> {
  const { allowRisky = false, allowedMounts = [] } = context;
  const config = form.mcp_config ?? null;
  const filler = slotFiller(draft, config, 'mcp_config');
  readVariables(draft, { given: givenVariables(form), declared: found?.variables ?? [], filler, config, field: variablesField });

  const field = form.mcp_command === undefined ? 'mcp_plugin_dir' : 'mcp_command';
  const { command, runtime } = commandOf(draft, form, { found, filler, field, context });
  for (const slot of filler.missing) draft.missing.push(`mcp_config.${slot}`);
  const transport = form.mcp_transport_type ?? found?.transport ?? 'stdio';
  return localParts(draft, {
    pluginDir: form.mcp_plugin_dir ?? null,
    manifestPath: manifest?.path ?? null,
    cwd: form.mcp_cwd ?? null,
    transport: transport === 'sse' ? 'sse' : 'stdio',
    runtime,
    command: [...command, ...(form.mcp_args ?? [])],
    config,
    field,
    allowRisky,
    allowedMounts,
  });
}

interface CommandParts {
  found: ManifestPackage | undefined;
  filler: SlotFiller;
  field: string;
  context: McpRegistrationContext;
}

function commandOf(draft: Draft, form: McpRegistration, { found, filler, field, context }: CommandParts) {
  const { allowRisky = false, allowedMounts = [] } = context;
  const { mcp_command: given, mcp_runtime_hint: hint = null } = form;
  const described = given === undefined ? found : undefined;
  const own = typeof given === 'string' ? [given] : (given ?? found?.command ?? []);
  const runtime = hint ?? described?.runtime ?? runtimeOfScript(own);
  const container = packageContainer(form, context, runtime === 'docker' && !namesDockerRun(own));
  const options = { variables: [...draft.environment.keys()], container, allowedMounts, field };
  if (described?.package != null) {
    if (hint !== null && hint !== described.runtime)
      throw invalid('mcp_runtime_hint', `The manifest starts its package with ${described.runtime ?? 'its own command'}. Take it out`);
    const runtimeArguments = described.runtimeArguments.flatMap(filler.argument);
    const args = described.arguments.flatMap(filler.argument);
    return { command: packageCommand(described.package, { ...options, runtimeArguments, args, allowRisky }), runtime };
  }
  return { command: withRuntime(runtime, own, options), runtime };
}

function remoteOfManifest(draft: Draft, form: McpRegistration, manifest: Manifest): DefinitionParts {
  const found = manifest.remotes.find(({ transport }) => form.mcp_transport_type === undefined || transport === form.mcp_transport_type);
  if (found === undefined) {
    const why = manifest.unsupported[0] ?? 'it has no package that can be started, and no remote server';
    throw invalid('mcp_plugin_dir', `The manifest cannot be used: ${why}`);
  }
  return { ...remote(draft, form, { url: found.url, urlField: 'mcp_plugin_dir', transport: found.transport, found }), starts: null };
}

interface RemoteFound {
  url: string;
  urlField: string;
  transport: 'sse' | 'streamable_http';
  found?: ManifestRemote;
}

function remote(draft: Draft, form: McpRegistration, { url, urlField, transport, found }: RemoteFound): DefinitionParts {
  refuseContainer(form);
  const config = form.mcp_config ?? null;
  const filler = slotFiller(draft, config, 'mcp_config');
  // A manifest may leave parts of the address open: https://{tenant}.example.com/mcp
  const input = { description: '', required: true, secret: false, value: url, variables: found?.variables ?? {} };
  const address = found === undefined ? url : (filler.text(input, 'url') ?? url);
  const parts = remoteParts(draft, {
    url: address,
    transport,
    given: givenVariables(form),
    headers: form.headers ?? {},
    declaredHeaders: found?.headers ?? [],
    filler,
    credential: form.credential,
    allowInsecure: form.allow_insecure,
    urlField,
    variablesField,
  });
  for (const slot of filler.missing) draft.missing.push(`mcp_config.${slot}`);
  return { parts: { ...parts, config }, starts: null };
}

function givenVariables({ mcp_env_vars: values = {} }: McpRegistration): Map<string, GivenVariable> {
  return new Map(Object.entries(values).map(([name, input]) => [name, { input, secret: false }]));
}
