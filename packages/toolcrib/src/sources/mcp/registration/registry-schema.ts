import { z } from 'zod';

/** Field names of the registry's first schema (July 2025), with their current names. */
const renamed: Record<string, string> = {
  registry_type: 'registryType',
  registry_base_url: 'registryBaseUrl',
  runtime_hint: 'runtimeHint',
  runtime_arguments: 'runtimeArguments',
  package_arguments: 'packageArguments',
  environment_variables: 'environmentVariables',
  value_hint: 'valueHint',
  is_required: 'isRequired',
  is_secret: 'isSecret',
  is_repeated: 'isRepeated',
};

/** Replaces the old names with the current ones. The keys of a `variables` map are a publisher's own and stay as they are. */
export function withCurrentNames(value: unknown, own = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withCurrentNames(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      !own && Object.hasOwn(renamed, name) ? renamed[name] : name,
      withCurrentNames(inner, !own && name === 'variables'),
    ]),
  );
}

const text = z.string().max(8192);

const inputShape = {
  description: text.default(''),
  isRequired: z.boolean().default(false),
  isSecret: z.boolean().default(false),
  value: text.optional(),
  default: text.optional(),
  format: z.string().max(50).optional(),
  placeholder: text.optional(),
  choices: z.array(text).max(500).optional(),
};
const inputSchema = z.object(inputShape);
const variables = z.record(z.string().max(200), inputSchema).default({});
const inputWithVariablesShape = { ...inputShape, variables };

const argumentSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('positional'), valueHint: z.string().max(200).optional(), ...inputWithVariablesShape }),
  z.object({ type: z.literal('named'), name: z.string().min(1).max(200), ...inputWithVariablesShape }),
]);
const argumentsSchema = z.array(argumentSchema).max(200).default([]);
const namedInputSchema = z.object({ name: z.string().min(1).max(200), ...inputWithVariablesShape });

const remoteTransport = z.enum(['streamable-http', 'streamable', 'sse']);

const packageSchema = z.object({
  registryType: z.string().max(100),
  registryBaseUrl: z.string().max(2048).optional(),
  identifier: z.string().min(1).max(512),
  version: z.string().max(255).optional(),
  runtimeHint: z.string().max(100).optional(),
  transport: z.object({ type: z.enum(['stdio', 'streamable-http', 'sse']) }).default({ type: 'stdio' }),
  runtimeArguments: argumentsSchema,
  packageArguments: argumentsSchema,
  environmentVariables: z.array(namedInputSchema).max(500).default([]),
});

const remoteSchema = z
  .object({
    type: remoteTransport.optional(),
    transport_type: remoteTransport.optional(),
    url: z.string().min(1).max(2048),
    variables,
    headers: z.array(namedInputSchema).max(200).default([]),
  })
  .transform(({ type, transport_type, ...remote }) => ({ ...remote, type: type ?? transport_type ?? 'streamable-http' }));

/** The public MCP registry's `server.json`. It has more fields than we read, and gets new ones. */
export const registryManifestSchema = z.object({
  name: z.string().min(1).max(500),
  version: z.string().max(255).default(''),
  description: z.string().max(8192).default(''),
  packages: z.array(packageSchema).max(50).default([]),
  remotes: z.array(remoteSchema).max(50).default([]),
});

export type RegistryManifest = z.infer<typeof registryManifestSchema>;
export type RegistryPackage = z.infer<typeof packageSchema>;
export type RegistryArgument = z.infer<typeof argumentSchema>;
export type RegistryInput = z.infer<typeof inputSchema> & { variables?: Record<string, z.infer<typeof inputSchema>> };
