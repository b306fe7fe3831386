import { z } from 'zod';
import { callLimitsSchema } from './call-limits.ts';
import { containerSchema } from './container.ts';
import { credentialSchemaOf } from './credential.ts';
import { processLimitsSchema } from './process-limits.ts';

/** A value a server needs: said outright, or the name of a secret. `${VAR}` inside a value is filled in when the server is started. */
export const namedValueSchema = z.union([
  z.strictObject({ value: z.string().max(65_536) }),
  z.strictObject({ secret_ref: z.string().min(1).max(200) }),
]);
export type NamedValue = z.infer<typeof namedValueSchema>;

/** [ID-2] As whom we speak to a server. */
const credentialSchema = credentialSchemaOf(namedValueSchema);
export type Credential = z.infer<typeof credentialSchema>;

/** [SRC-7] A variable that a manifest declares. */
export const variableSchema = z.strictObject({
  name: z.string().min(1).max(200),
  description: z.string().max(4000).default(''),
  required: z.boolean().default(false),
  secret: z.boolean().default(false),
});
export type Variable = z.infer<typeof variableSchema>;

/** [EXEC-8] How often a call is tried again where that can do no harm. */
const retriesSchema = z.strictObject({
  maxAttempts: z.int().min(0).max(10).default(2).describe('Attempts after the first; 0 makes none'),
  backoffMs: z.int().min(1).max(5000).default(100).describe('The first pause; it doubles'),
});
export type Retries = z.infer<typeof retriesSchema>;

/** [MCP-10] How patient we are with one server, and how persistent. */
export const resilienceSchema = z.strictObject({
  requestTimeoutMs: z.int().min(1).max(3_600_000).default(30_000),
  startupTimeoutMs: z.int().min(1).max(3_600_000).default(60_000),
  heartbeatIntervalMs: z.int().min(0).max(3_600_000).default(30_000).describe('0 sends none'),
  staleTimeoutMs: z.int().min(0).max(86_400_000).default(0).describe('0 never takes a silent session for dead'),
  restart: z
    .strictObject({
      maxAttempts: z.int().min(0).max(100).default(5),
      backoffMs: z.int().min(1).max(60_000).default(1000),
    })
    .default({ maxAttempts: 5, backoffMs: 1000 }),
  retries: retriesSchema.prefault({}),
});
export type Resilience = z.infer<typeof resilienceSchema>;

/** [SRC] Every form of registration gives this. What a form does not say has the default here. */
export const mcpDefinitionSchema = z.strictObject({
  transport_type: z.enum(['stdio', 'sse', 'streamable_http']).default('stdio'),
  lifecycle_mode: z.enum(['transient', 'singleton']).default('transient'),
  /** [MCP-6] Processes started ahead for transient calls. */
  standby: z.int().min(0).max(32).default(0),
  runtime_hint: z.enum(['uvx', 'npx', 'python', 'node', 'docker']).nullable().default(null),
  /** The program and its arguments; empty for a remote server. */
  command: z.array(z.string().max(32_768)).max(500).default([]),
  cwd: z.string().max(4096).nullable().default(null),
  /** [SRC-3] Where the command is run inside a container; null where it is run on this machine, `docker run` included. */
  container: containerSchema.nullable().default(null),
  /** [SEC-2] What it may use of this machine where it is started here; less than the operator allows. */
  process_limits: processLimitsSchema.default({}),
  plugin_dir: z.string().max(4096).nullable().default(null),
  manifest_path: z.string().max(4096).nullable().default(null),
  /** What the registration called the source's address; for people. */
  url: z.string().max(2048).nullable().default(null),
  server_url: z.string().max(2048).nullable().default(null),
  allow_insecure: z.boolean().default(false),
  environment: z.record(z.string(), namedValueSchema).default({}),
  env_definitions: z.array(variableSchema).max(500).default([]),
  headers: z.record(z.string(), namedValueSchema).default({}),
  credential: credentialSchema.default({ type: 'none' }),
  /** [INV-6] As whom the tools are listed where every user speaks for themselves; null where nobody can. */
  discovery_credential: credentialSchema.nullable().default(null),
  /** [ID-6] The environment variable in which a server that is started here gets the caller's token. */
  credential_env: z.string().max(200).nullable().default(null),
  resilience: resilienceSchema.prefault({}),
  limits: callLimitsSchema.default({}),
  tools: z
    .strictObject({
      include: z.array(z.string().max(512)).max(10_000).default([]),
      exclude: z.array(z.string().max(512)).max(10_000).default([]),
    })
    .prefault({}),
  /** [INV-3] What becomes of definitions that are new or differ from those that were approved. */
  pinning: z.enum(['off', 'warn', 'quarantine']).default('off'),
  /** [INV-1] How often its tools are asked for again; 0 never does. */
  refresh_interval_ms: z.union([z.literal(0), z.int().min(1000).max(604_800_000)]).default(0),
  register_resources_as_tools: z.boolean().default(false),
  origin: z
    .union([
      z.strictObject({ official: z.strictObject({ name: z.string().max(500), version: z.string().max(200) }) }),
      z.strictObject({ smithery: z.strictObject({ qualified_name: z.string().max(500) }) }),
      z.literal('manual'),
    ])
    .default('manual'),
  /** Opaque; stored, shown redacted, and only fills slots that a manifest declares. */
  config: z.json().default(null),
});
export type McpDefinition = z.infer<typeof mcpDefinitionSchema>;
export type Pinning = McpDefinition['pinning'];

/** Whether the server runs elsewhere and is only spoken to. */
export function isRemote(definition: McpDefinition): boolean {
  return definition.server_url !== null;
}
