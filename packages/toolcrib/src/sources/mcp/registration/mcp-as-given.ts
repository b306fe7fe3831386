import type { McpDefinition } from '../mcp-definition.ts';
import { hideAs, hideValues } from '../../registration/hide-as.ts';
import type { ValueInput } from '../../registration/value-input.ts';
import { takeArgumentSecrets, type PutAside } from './argument-secrets.ts';
import type { McpRegistration } from './forms.ts';
import type { PackageForm, PackageVariable } from './package-form.ts';
import { showDefinition, type ShownDefinition } from './show-definition.ts';

interface Made {
  definition: McpDefinition;
  /** The values of the registration's secrets, by the name of the variable that holds each. */
  secrets: Readonly<Record<string, string>>;
}

/** [ENV-4] The MCP-only fields of a registration, without their secrets. */
export function mcpAsGiven(form: McpRegistration, { definition, secrets }: Made): Partial<McpRegistration> {
  const shown = showDefinition(definition);
  const values = { ...shown.headers, ...shown.environment };
  const hide = (args: readonly string[]) => hideArguments(args, secrets);
  const given: Partial<McpRegistration> = packageAsGiven(form, { shown, values, hide });
  if (form.mcp !== undefined) given.mcp = { ...form.mcp, ...packageAsGiven(form.mcp, { shown, values, hide }) };
  if (form.url !== undefined) given.url = shown.url ?? undefined;
  if (form.mcp_server_url !== undefined) given.mcp_server_url = shown.server_url ?? undefined;
  if (form.mcp_config !== undefined) given.mcp_config = shown.config;
  if (form.mcp_env_vars !== undefined) given.mcp_env_vars = hideValues(form.mcp_env_vars, values);
  // A flag may be the last part of mcp_command, and its value the first of mcp_args, so both are read together.
  const command = [form.mcp_command ?? []].flat();
  // The first part counts as the program, which is never hidden. Without a command, an empty part takes its place.
  const program = command.length === 0 ? [''] : [];
  const all = hide([...program, ...command, ...(form.mcp_args ?? [])]).slice(program.length);
  if (Array.isArray(form.mcp_command)) given.mcp_command = all.slice(0, command.length);
  if (form.mcp_args !== undefined) given.mcp_args = all.slice(command.length);
  const { mcp_container: container } = form;
  if (container !== undefined) {
    given.mcp_container = { ...container };
    if (container.env !== undefined) given.mcp_container.env = hideValues(container.env, values);
    if (container.command !== undefined) given.mcp_container.command = hide(container.command);
  }
  return given;
}

interface Shown {
  shown: ShownDefinition;
  values: Readonly<Record<string, ValueInput>>;
  hide(args: readonly string[]): string[];
}

function packageAsGiven(form: PackageForm, { shown, values, hide }: Shown): Partial<PackageForm> {
  const given: Partial<PackageForm> = {};
  const { package: found, transport, env_vars: variables } = form;
  if (form.config !== undefined) given.config = shown.config;
  if (found?.args != null) given.package = { ...found, args: hide(['', ...found.args]).slice(1) };
  if (transport != null && typeof transport === 'object' && shown.server_url !== null) {
    const { server_url: url } = shown;
    if ('url' in transport) given.transport = { ...transport, url };
    else if ('Http' in transport) given.transport = { Http: { url } };
    else if ('http' in transport) given.transport = { http: { url } };
  }
  const of = (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined);
  const hidden = <Variable extends PackageVariable>(name: string, variable: Variable): Variable =>
    variable.value == null ? variable : { ...variable, value: hideAs(variable.value, of(name)) };
  if (Array.isArray(variables)) given.env_vars = variables.map((variable) => hidden(variable.name, variable));
  else if (variables != null) {
    const entries = Object.entries(variables);
    given.env_vars = Object.fromEntries(
      entries.map(([name, variable]) => [name, typeof variable === 'string' ? hideAs(variable, of(name)) : hidden(name, variable)]),
    );
  }
  return given;
}

/** The arguments as in the stored command, with `${NAME}` for each secret. */
function hideArguments(args: readonly string[], secrets: Made['secrets']): string[] {
  const names = new Map(Object.entries(secrets).map(([name, value]) => [value, name]));
  const nameOf: PutAside = (variable, value) => (secrets[variable] === value ? variable : (names.get(value) ?? variable));
  // A secret whose flag is not in `args`, for example because a manifest gives it.
  const isApart = (arg: string) => names.get(arg)?.startsWith('ARG_') === true;
  return takeArgumentSecrets(args, nameOf).map((arg) => (isApart(arg) ? `\${${names.get(arg)}}` : arg));
}
