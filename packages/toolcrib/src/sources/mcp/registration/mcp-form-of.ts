import { headerOfVariable } from '../../upstream/header-rules.ts';
import type { McpDefinition } from '../mcp-definition.ts';
import { showDefinition, type ShownDefinition } from './show-definition.ts';

/** The MCP-only fields of a registration, rebuilt for a source from before registrations were kept as given. */
export function mcpFormOf(definition: McpDefinition): object {
  const shown = showDefinition(definition);
  const { url, lifecycle_mode, standby, on_secret_change, register_resources_as_tools, credential_env, process_limits, config } = shown;
  return {
    ...(url === null ? {} : { url }),
    mcp_lifecycle_mode: lifecycle_mode,
    standby,
    on_secret_change,
    register_resources_as_tools,
    ...(credential_env === null ? {} : { credential_env }),
    ...(Object.keys(process_limits).length === 0 ? {} : { mcp_process_limits: process_limits }),
    ...(shown.container === null ? { ...placeFields(shown), ...(config === null ? {} : { mcp_config: config }) } : containerFields(shown)),
  };
}

function placeFields(shown: ShownDefinition): object {
  const { server_url, transport_type, environment, command, cwd, plugin_dir } = shown;
  if (server_url !== null) {
    // Other variables never had an effect, and are refused today.
    const isUsed = (name: string) => headerOfVariable(name, '') !== undefined || JSON.stringify(shown).includes(`\${${name}}`);
    const used = Object.entries(environment).filter(([name]) => isUsed(name));
    return { mcp_server_url: server_url, mcp_transport_type: transport_type, mcp_env_vars: Object.fromEntries(used) };
  }
  return {
    ...(plugin_dir === null ? {} : { mcp_plugin_dir: plugin_dir }),
    mcp_command: command,
    ...(cwd === null ? {} : { mcp_cwd: cwd }),
    mcp_transport_type: transport_type,
    mcp_env_vars: environment,
  };
}

function containerFields({ container, command, environment: env }: ShownDefinition): object {
  if (container === null) return {};
  const { name, image, workdir, user, settings } = container;
  const place = name === null ? { image, ...settings } : { container: name };
  return { mcp_container: { ...place, command, env, ...(workdir === null ? {} : { workdir }), ...(user === null ? {} : { user }) } };
}
