import { isAbsolute } from 'node:path';
import type { Draft } from '../../registration/draft.ts';
import type { DefinitionParts } from './flat-registration.ts';
import { flatFields } from './flat-fields.ts';
import type { McpRegistration } from './forms.ts';
import { invalid } from '../../registration/invalid.ts';
import { localParts } from './local-server.ts';
import type { PackageForm, PackageInput } from './package-form.ts';
import { packageContainer } from './package-container.ts';
import { packageCommand, withRuntime, type StartOptions } from './package-command.ts';
import { readVariables, slotFiller, type GivenVariable } from './read-variables.ts';
import type { RegistrationContext } from '../../registration/registration-context.ts';
import { remoteParts } from './remote-server.ts';
import type { Runtime } from './runtime.ts';
import { checkVariableName } from '../../upstream/variable-names.ts';

const variablesField = 'mcp.env_vars';
const runtimes: Record<'npm' | 'pypi' | 'docker', Runtime> = { npm: 'npx', pypi: 'uvx', docker: 'docker' };

/** [SRC-2] A server described by its package. */
export async function packageRegistration(draft: Draft, form: McpRegistration, context: RegistrationContext): Promise<DefinitionParts> {
  const mcp: PackageForm = form.mcp ?? {};
  refuseFlatFields(form);
  const found = mcp.package;
  const identifier = found?.identifier?.trim() ?? '';
  if (found === undefined || identifier === '') throw invalid('mcp.package.identifier', 'Package identifier required');
  refuseSenseless(found);
  if (mcp.transport === undefined) throw invalid('mcp.transport', 'Transport required');

  const config = mcp.config ?? null;
  const given = givenVariables(mcp);
  const filler = slotFiller(draft, config, 'mcp.config');
  const container = packageContainer(form, context, found.package_type === 'docker');
  if (found.package_type === 'http') {
    if (mcp.transport.type !== 'http')
      throw invalid('mcp.transport', 'An http package is only connected to: give the transport {"type": "http", "url": …}');
    declare(draft, mcp);
    const parts = remoteParts(draft, {
      url: mcp.transport.url,
      transport: 'streamable_http',
      given,
      headers: form.headers ?? {},
      declaredHeaders: [],
      filler,
      credential: form.credential,
      allowInsecure: form.allow_insecure,
      urlField: 'mcp.transport.url',
      variablesField,
    });
    return { parts: { ...parts, config }, starts: null };
  }
  if (mcp.transport.type !== 'stdio') {
    throw invalid(
      'mcp.transport',
      'A package that is started here is spoken to over stdio. For a server that runs elsewhere the package_type is http',
    );
  }
  readVariables(draft, { given, declared: [], filler, config, field: variablesField });
  declare(draft, mcp);
  const { allowRisky = false, allowedMounts = [] } = context;
  const options = { variables: [...draft.environment.keys()], container, allowRisky, allowedMounts };
  const { command, runtime } = commandOf({ ...found, identifier }, options);
  return localParts(draft, {
    pluginDir: null,
    manifestPath: null,
    cwd: null,
    transport: 'stdio',
    runtime,
    command,
    config,
    field: 'mcp.package',
    allowRisky,
    allowedMounts,
  });
}

function commandOf(
  found: PackageInput & { identifier: string },
  options: Omit<StartOptions, 'field'>,
): { command: string[]; runtime: Runtime | null } {
  const { package_type: type, identifier, version, program, with: others, runtime_hint: hint, args = [] } = found;
  if (type === 'npm' || type === 'pypi' || type === 'docker') {
    const runtime = runtimes[type];
    if (hint !== undefined && hint !== runtime)
      throw invalid('mcp.package.runtime_hint', `A package of type ${type} is started with ${runtime}`);
    return {
      command: packageCommand({ type, identifier, version, program, with: others }, { ...options, args, field: 'mcp.package.identifier' }),
      runtime,
    };
  }
  if (version !== undefined) throw invalid('mcp.package.version', 'A program has no version that could be chosen. Take it out');
  if (hint !== undefined && hint !== 'python' && hint !== 'node')
    throw invalid('mcp.package.runtime_hint', 'A binary is started directly, or with python or node');
  if (!isAbsolute(identifier) && (hint !== undefined || /[\\/]/.test(identifier)))
    throw invalid('mcp.package.identifier', 'Name the file by its absolute path');
  return { command: withRuntime(hint ?? null, [identifier, ...args], { ...options, field: 'mcp.package' }), runtime: hint ?? null };
}

/** npx starts the package it is given; others can stand beside it only where the program is named. */
function refuseSenseless({ package_type: type, program, with: others }: PackageInput): void {
  if (program !== undefined && type !== 'npm' && type !== 'pypi')
    throw invalid('mcp.package.program', 'Only a package of type npm or pypi has programs to choose from. Take it out');
  if (others === undefined || type === 'pypi' || (type === 'npm' && program !== undefined)) return;
  throw invalid('mcp.package.with', 'Further packages are for pypi, and for npm where `program` says what is run');
}

function givenVariables({ env_vars: variables = {} }: PackageForm): Map<string, GivenVariable> {
  return new Map(
    Object.entries(variables).map(([name, { value, secret_ref, is_secret }]) => {
      const input = secret_ref === undefined ? value : { secret_ref };
      return [name, { input: input === '' ? undefined : input, secret: is_secret }];
    }),
  );
}

function declare(draft: Draft, { env_vars: variables = {} }: PackageForm): void {
  for (const [name, { is_secret, required, value, secret_ref }] of Object.entries(variables)) {
    checkVariableName(name, `${variablesField}.${name}`.slice(0, 500), true);
    draft.definitions.push({ name, description: '', required, secret: is_secret });
    if (required && (value ?? '') === '' && secret_ref === undefined) draft.missing.push(`${variablesField}.${name}`);
  }
}

function refuseFlatFields(form: McpRegistration): void {
  const given = flatFields.find((field) => form[field] !== undefined);
  if (given !== undefined) throw invalid(given, `${given} and mcp describe the same thing twice. Take one of them out`);
}
