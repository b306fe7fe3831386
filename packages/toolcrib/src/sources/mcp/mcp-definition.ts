import { z } from 'zod';
import { containerSchema } from '../../model/container.ts';
import { lookedUpSchema } from '../../model/looked-up.ts';
import { processLimitsSchema } from '../../model/process-limits.ts';
import { sourceDefinitionSchema } from '../../model/source-definition.ts';

/** The definition that every form of MCP registration becomes. Fields that a form leaves out get the default here. */
export const mcpDefinitionSchema = z.strictObject({
  ...sourceDefinitionSchema.shape,
  transport_type: z.enum(['stdio', 'sse', 'streamable_http']).default('stdio'),
  lifecycle_mode: z.enum(['transient', 'singleton']).default('transient'),
  /** [MCP-6] Processes started ahead for transient calls. */
  standby: z.int().min(0).max(32).default(0),
  /** [ENV-1] Whether a running server is replaced when a secret that it was started with changes. */
  on_secret_change: z.enum(['restart', 'keep']).default('restart'),
  runtime_hint: z.enum(['uvx', 'npx', 'python', 'node', 'docker']).nullable().default(null),
  /** The program and its arguments; empty for a remote server. */
  command: z.array(z.string().max(32_768)).max(500).default([]),
  cwd: z.string().max(4096).nullable().default(null),
  /** [SRC-3] The container in which the command runs; null if it runs on this machine, as `docker run` does. */
  container: containerSchema.nullable().default(null),
  /** [SEC-2] Resource limits of a local server; at most what the operator allows. */
  process_limits: processLimitsSchema.default({}),
  plugin_dir: z.string().max(4096).nullable().default(null),
  manifest_path: z.string().max(4096).nullable().default(null),
  /** The `url` of the registration, for people to read. */
  url: z.string().max(2048).nullable().default(null),
  /** [ID-6] The environment variable in which a local server gets the caller's token. */
  credential_env: z.string().max(200).nullable().default(null),
  register_resources_as_tools: z.boolean().default(false),
  origin: z
    .union([
      z.strictObject({ official: z.strictObject({ name: z.string().max(500), version: z.string().max(200) }) }),
      z.strictObject({ smithery: z.strictObject({ qualified_name: z.string().max(500) }) }),
      z.literal('manual'),
    ])
    .default('manual'),
  /** [SRC-2] The description from the registry that `origin` names; null if there was no lookup. */
  looked_up: lookedUpSchema.nullable().default(null),
  /** Opaque; stored, shown redacted, and only fills slots that a manifest declares. */
  config: z.json().default(null),
});
export type McpDefinition = z.infer<typeof mcpDefinitionSchema>;

/** Whether the server is remote: connected to, and not started. */
export function isRemote(definition: McpDefinition): boolean {
  return definition.server_url !== null;
}
