/** What the flat form says of a server. Another description beside it would leave open which of the two counts. */
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
