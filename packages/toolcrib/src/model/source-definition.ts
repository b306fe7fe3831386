import { z } from 'zod';
import { callLimitsSchema } from './call-limits.ts';
import { credentialSchemaOf } from './credential.ts';
import { toolChoiceSchema } from './tool-choice.ts';

/** A value a server needs: said outright, or the name of a secret. `${VAR}` inside a value is filled in when the server is started. */
export const namedValueSchema = z.union([
  z.strictObject({ value: z.string().max(65_536) }),
  z.strictObject({ secret_ref: z.string().min(1).max(200) }),
]);
export type NamedValue = z.infer<typeof namedValueSchema>;

/** [ID-2] Credentials for a server. */
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
  heartbeatIntervalMs: z
    .int()
    .min(0)
    .max(3_600_000)
    .default(30_000)
    .describe('0 turns heartbeats off, so a server that hangs is not noticed'),
  staleTimeoutMs: z
    .int()
    .min(0)
    .max(86_400_000)
    .default(90_000)
    .describe('A server that has not answered for this long is restarted; 0 never restarts it'),
  restart: z
    .strictObject({
      maxAttempts: z.int().min(0).max(100).default(5),
      backoffMs: z.int().min(1).max(60_000).default(1000),
    })
    .default({ maxAttempts: 5, backoffMs: 1000 }),
  retries: retriesSchema.prefault({}),
});
export type Resilience = z.infer<typeof resilienceSchema>;

export const pinnings = ['off', 'warn', 'quarantine'] as const;

/** What the definition of every source has, whatever its type. */
export const sourceDefinitionSchema = z.strictObject({
  /** Where it is spoken to; null for what is started here, and for a document that says so itself. */
  server_url: z.string().max(2048).nullable().default(null),
  allow_insecure: z.boolean().default(false),
  environment: z.record(z.string(), namedValueSchema).default({}),
  env_definitions: z.array(variableSchema).max(500).default([]),
  headers: z.record(z.string(), namedValueSchema).default({}),
  credential: credentialSchema.default({ type: 'none' }),
  /** [INV-6] Credentials for listing the tools where every user has their own; null where there are none. */
  discovery_credential: credentialSchema.nullable().default(null),
  resilience: resilienceSchema.prefault({}),
  limits: callLimitsSchema.default({}),
  tools: toolChoiceSchema.prefault({}),
  /** [INV-3] What becomes of definitions that are new or differ from those that were approved. */
  pinning: z.enum(pinnings).default('off'),
  /** [INV-1] How often its tools are asked for again; 0 never does. */
  refresh_interval_ms: z.union([z.literal(0), z.int().min(1000).max(604_800_000)]).default(0),
  /** [UTCP-1] The manual that it was imported from, which is a tag of its tools. */
  manual: z.string().min(1).max(200).optional(),
});
export type SourceDefinition = z.infer<typeof sourceDefinitionSchema>;
export type Pinning = SourceDefinition['pinning'];
