import { isAbsolute } from 'node:path';
import type { Draft } from '../../registration/draft.ts';
import type { DefinitionParts } from './flat-registration.ts';
import { flatFields } from './flat-fields.ts';
import type { McpRegistration } from './forms.ts';
import { invalid } from '../../registration/invalid.ts';
import { declareVariables, givenVariables } from './declare-variables.ts';
import { localParts } from './local-server.ts';
import { lookUpPackage } from './look-up-package.ts';
import { declaredFor } from './matching-package.ts';
import { packageContainer } from './package-container.ts';
import { packageCommand, withRuntime, type StartOptions } from './package-command.ts';
import type { ReadPackage, ReadPackageSpec } from './read-package.ts';
import { readVariables, slotFiller } from './read-variables.ts';
import type { McpRegistrationContext } from './mcp-registration-context.ts';
import { checkDeclared, registryRegistration } from './registry-registration.ts';
import { remoteParts } from './remote-server.ts';
import type { Runtime } from './runtime.ts';

const runtimes: Record<'npm' | 'pypi' | 'docker', Runtime> = { npm: 'npx', pypi: 'uvx', docker: 'docker' };

/** [SRC-2] A server described by its package. */
export async function packageRegistration(
  draft: Draft,
  form: McpRegistration,
  described: ReadPackage,
  context: McpRegistrationContext,
): Promise<DefinitionParts> {
  const { package: found, config, field } = described;
  refuseFlatFields(form, field('package'));
  const lookedUp = await lookUpPackage(described, context);
  if (found === undefined && lookedUp !== undefined) return registryRegistration(draft, form, described, { lookedUp, context });
  if (found === undefined || found.identifier === '') throw invalid(field('package.identifier'), 'Package identifier required');
  refuseSenseless(found, field);
  // For a package that is started, a lookup makes stdio the default.
  const transport = described.transport ?? (lookedUp === undefined || found.type === 'http' ? undefined : { type: 'stdio' as const });
  if (transport === undefined) throw invalid(field('transport'), 'Transport required');

  const declared = declaredFor(lookedUp, described);
  checkDeclared(declared.variables, field('source'));
  const variablesField = field('env_vars');
  const given = givenVariables(described);
  const filler = slotFiller(draft, config, field('config'));
  const container = packageContainer(form, context, found.type === 'docker');
  refuseFolder(form, found);
  if (found.type === 'http') {
    if (transport.type !== 'http')
      throw invalid(field('transport'), 'An http package is a remote server: give the transport {"type": "http", "url": …}');
    declareVariables(draft, described, { isRemote: true });
    const parts = remoteParts(draft, {
      url: transport.url,
      transport: 'streamable_http',
      given,
      headers: form.headers ?? {},
      declaredHeaders: declared.headers,
      filler,
      credential: form.credential,
      allowInsecure: form.allow_insecure,
      urlField: field('transport.url'),
      variablesField,
    });
    return { parts: { ...parts, config, looked_up: lookedUp ?? null }, starts: null };
  }
  if (transport.type !== 'stdio') {
    throw invalid(field('transport'), 'A local package uses stdio. For a remote server, set package_type to http');
  }
  readVariables(draft, { given, declared: declared.variables, filler, config, field: variablesField });
  declareVariables(draft, described, { declared: declared.variables });
  const { allowRisky = false, allowedMounts = [] } = context;
  const options = { variables: [...draft.environment.keys()], container, allowRisky, allowedMounts, at: field };
  const { command, runtime } = commandOf(found, options);
  const { parts, starts } = await localParts(draft, {
    pluginDir: null,
    manifestPath: null,
    cwd: form.mcp_cwd ?? null,
    transport: 'stdio',
    runtime,
    command,
    config,
    field: field('package'),
    allowRisky,
    allowedMounts,
  });
  return { parts: { ...parts, looked_up: lookedUp ?? null }, starts };
}

function commandOf(
  { type, identifier, version, program, with: others, runtimeHint: hint, args }: ReadPackageSpec,
  { at, ...options }: Omit<StartOptions, 'field'> & { at: ReadPackage['field'] },
): { command: string[]; runtime: Runtime | null } {
  if (type === 'npm' || type === 'pypi' || type === 'docker') {
    const runtime = runtimes[type];
    if (hint !== undefined && hint !== runtime)
      throw invalid(at('package.runtime_hint'), `A package of type ${type} is started with ${runtime}. Take runtime_hint out`);
    const found = { type, identifier, version, program, with: others };
    return { command: packageCommand(found, { ...options, args, field: at('package.identifier') }), runtime };
  }
  if (version !== undefined) throw invalid(at('package.version'), 'A binary has no version to choose. Take it out');
  if (hint !== undefined && hint !== 'python' && hint !== 'node')
    throw invalid(at('package.runtime_hint'), 'A binary is started directly, or with python or node');
  if (!isAbsolute(identifier) && (hint !== undefined || /[\\/]/.test(identifier)))
    throw invalid(at('package.identifier'), 'Name the file by its absolute path');
  return { command: withRuntime(hint ?? null, [identifier, ...args], { ...options, field: at('package') }), runtime: hint ?? null };
}

/** npx takes several packages only if the program to run is named too. */
function refuseSenseless({ type, program, with: others }: ReadPackageSpec, at: ReadPackage['field']): void {
  if (program !== undefined && type !== 'npm' && type !== 'pypi')
    throw invalid(at('package.program'), 'program is only for packages of type npm or pypi. Take it out');
  if (others === undefined || type === 'pypi' || (type === 'npm' && program !== undefined)) return;
  throw invalid(at('package.with'), 'with is only for packages of type pypi, and for type npm if program is given too');
}

function refuseFlatFields(form: McpRegistration, described: string): void {
  const given = flatFields.find((field) => field !== 'mcp_cwd' && form[field] !== undefined);
  if (given !== undefined) throw invalid(given, `${given} and ${described} describe the same thing twice. Take one of them out`);
}

/** A program in a container does not see the working directory of `docker run`, and a remote server has none here. */
function refuseFolder({ mcp_cwd: folder }: McpRegistration, { type }: ReadPackageSpec): void {
  if (folder === undefined || (type !== 'docker' && type !== 'http')) return;
  const instead =
    type === 'docker'
      ? 'A container has its own working directory: use mcp_container.workdir'
      : 'A remote server has no working directory here: take it out';
  throw invalid('mcp_cwd', instead);
}
