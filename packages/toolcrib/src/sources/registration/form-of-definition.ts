import type { McpDefinition } from '../../model/mcp-definition.ts';
import type { JsonObject } from '../../model/json.ts';
import type { DefinedSource } from '../../model/source.ts';
import { headerOfVariable } from '../upstream/header-rules.ts';
import { showDefinition, type ShownDefinition } from '../mcp/registration/show-definition.ts';
import { showSource } from './show-source.ts';

/** A registration that comes to the same, for a source from before registrations were kept as they were given. */
export function formOfDefinition(source: DefinedSource): JsonObject {
  const shown = showSource(source);
  const { allow_insecure, headers, credential, discovery_credential, resilience, limits, tools, pinning, refresh_interval_ms } = shown;
  const handling = { resilience, limits, tools, pinning, refresh_interval_ms, allow_insecure };
  const discovery = discovery_credential === null ? {} : { discovery_credential };
  const remote = {
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(credential.type === 'none' ? {} : { credential }),
    ...discovery,
  };
  switch (source.source_type) {
    case 'mcp':
      return plain({ ...handling, ...remote, ...mcpFields(source.definition) });
    case 'openapi': {
      const { document, server_url, origins, server_variables, external_refs, async_poll } = source.definition;
      const said = { ...placeOf(shown, document), origins, server_variables, external_refs, async_poll };
      return plain({ ...handling, ...remote, openapi: server_url === null ? said : { ...said, server_url } });
    }
    case 'workflow': {
      const { document, sources } = source.definition;
      return plain({ ...handling, ...discovery, workflow: { ...placeOf(shown, document), sources } });
    }
  }
}

function placeOf(shown: object, place: object): object {
  if ('stored' in place) return {};
  return 'document' in shown ? (shown.document as object) : place;
}

function mcpFields(definition: McpDefinition): object {
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
    // Others reached nobody, and are refused today.
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

function plain(form: object): JsonObject {
  return JSON.parse(JSON.stringify(form)) as JsonObject;
}
