import { z } from 'zod';
import type { Json } from '../../../model/json.ts';
import { mcpDefinitionSchema } from '../mcp-definition.ts';
import { processLimitsSchema } from '../../../model/process-limits.ts';
import { containerFormSchema } from './container-form.ts';
import { packageFields, packageFormSchema, runtimeHintSchema } from './package-form.ts';
import { allowInsecureField, handlingFields, namingFields } from '../../registration/common-fields.ts';
import { orNull } from '../../registration/or-null.ts';
import { credentialInputSchema, valueInputSchema, valuesSchema } from '../../registration/value-input.ts';

const { transport_type, lifecycle_mode, standby, on_secret_change } = mcpDefinitionSchema.shape;

/** [SRC-1] [SRC-2] The body of `POST /api/sources` for an MCP server, in any form. */
export const mcpRegistrationSchema = z
  .strictObject({
    ...namingFields,
    url: orNull(z.string().max(2048)).describe('An address for people to read. Toolcrib connects to mcp_server_url instead'),
    source_type: z.literal('mcp').default('mcp'),

    mcp_server_url: orNull(z.string().max(2048)).describe(
      'The address of a remote server. If it is given, nothing is started on this machine',
    ),
    mcp_plugin_dir: orNull(z.string().max(4096)).describe(
      'The absolute path of the directory with the manifest of a local server: server.json, else plugin.json',
    ),
    mcp_command: orNull(z.union([z.string().max(4096), z.array(z.string().max(32_768)).min(1).max(400)])).describe(
      "The program, or the program and its arguments; replaces the manifest's command. It does not pass through a shell",
    ),
    mcp_args: orNull(z.array(z.string().max(32_768)).max(400)).describe('Arguments added at the end of the command'),
    mcp_cwd: orNull(z.string().max(4096)).describe('The absolute path of the directory to start in; by default the plugin directory'),
    mcp_transport_type: orNull(transport_type.unwrap()).describe(
      'stdio (default) or sse for a local server, streamable_http (default) or sse for a remote one',
    ),
    mcp_runtime_hint: orNull(runtimeHintSchema).describe('The program that launches the command'),
    mcp_lifecycle_mode: orNull(lifecycle_mode.unwrap()).describe(
      'transient (default): a fresh process for every call; singleton: one process, kept and shared',
    ),
    mcp_env_vars: orNull(valuesSchema(valueInputSchema)).describe(
      "Variables of a local server's environment. For a remote server they become headers: API_KEY is X-API-Key, BEARER_TOKEN is Authorization: Bearer, MCP_HEADER_X_Y is X-Y",
    ),
    mcp_config: (z.unknown() as z.ZodType<Json>)
      .optional()
      .describe('Values for the arguments that a manifest leaves open; shown redacted'),
    mcp_process_limits: orNull(processLimitsSchema).describe('Resource limits of a local server; at most what the operator allows'),
    mcp: orNull(packageFormSchema),
    ...packageFields,
    mcp_container: orNull(containerFormSchema),

    headers: orNull(valuesSchema(valueInputSchema)).describe('Headers for every request to a remote server; they override mcp_env_vars'),
    credential: orNull(credentialInputSchema),
    credential_env: orNull(z.string().max(200)).describe(
      "For a local server with a credential for each user: the environment variable that gets the caller's token",
    ),
    discovery_credential: orNull(credentialInputSchema).describe(
      'The credential for listing the tools if every user has their own; {"type": "oauth"} is a connection that an administrator makes',
    ),
    allow_insecure: allowInsecureField,
    ...handlingFields,
    standby: orNull(standby.unwrap()).describe('How many processes of a transient server are started ahead of the calls'),
    on_secret_change: orNull(on_secret_change.unwrap()).describe(
      'restart (default): the server restarts when a secret that it was started with changes; keep: it keeps the old value',
    ),
    register_resources_as_tools: z.boolean().default(false).describe("Offers the server's resources as tools too"),
  })
  .meta({ required: ['name'], description: 'An MCP server: remote, in a plugin directory, or described by its package' });

export type McpRegistration = z.infer<typeof mcpRegistrationSchema>;
/** The registration before defaults are filled in, as a person or a file gives it. */
export type McpRegistrationInput = z.input<typeof mcpRegistrationSchema>;
