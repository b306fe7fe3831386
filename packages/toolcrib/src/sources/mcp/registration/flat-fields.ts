/** The fields of the flat form that describe a server. They are refused beside another description: it would be unclear which counts. */
export const flatFields = [
  'mcp_server_url',
  'mcp_plugin_dir',
  'mcp_command',
  'mcp_args',
  'mcp_cwd',
  'mcp_transport_type',
  'mcp_runtime_hint',
  'mcp_env_vars',
  'mcp_config',
] as const;
