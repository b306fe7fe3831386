import { z } from 'zod';
import type { Json } from '../../../model/json.ts';
import { valuesSchema } from '../../registration/value-input.ts';

export const runtimeHintSchema = z.enum(['uvx', 'npx', 'python', 'node', 'docker']);

/** Stored as written, so that they read back unchanged: in lower case as usual in JSON, or as Rust's serde writes an enum. */
const packageTypes = ['npm', 'pypi', 'docker', 'binary', 'http', 'Npm', 'Pypi', 'Docker', 'Binary', 'Http'] as const;

const packageSchema = z.strictObject({
  package_type: z
    .enum(packageTypes)
    .describe(
      'npm is started with npx, pypi with uvx, docker with docker run, a binary directly; http is a remote server, which is not started',
    ),
  // Optional here, so that a missing identifier gets the message of SRC-10.
  identifier: z
    .string()
    .max(512)
    .nullish()
    .describe('Required. The package, the image, the path of the program, or a name for the remote server'),
  version: z.string().max(100).nullish().describe('An exact version, or a tag'),
  program: z
    .string()
    .regex(/^[^\s-]\S*$/, 'The name of a program, such as mcp-server-git')
    .max(200)
    .nullish()
    .describe("For npm and pypi: the program of the package to run, if its name is not the package's"),
  with: z
    .array(
      z
        .string()
        .regex(/^[^\s-]/, 'The name of a package')
        .max(200),
    )
    .max(20)
    .nullish()
    .describe('For pypi, and for npm with a program: additional packages that it needs'),
  runtime_hint: runtimeHintSchema.nullish().describe('For a binary that is a script: python or node'),
  args: z.array(z.string().max(32_768)).max(400).nullish().describe('Passed to the server as they are, not through a shell'),
});

const address = z.strictObject({ url: z.string().max(2048) });

const transportSchema = z
  .union([
    z.strictObject({ type: z.literal('stdio') }),
    z.strictObject({ type: z.literal('http'), url: z.string().max(2048) }),
    z.enum(['Stdio', 'stdio']),
    z.strictObject({ Http: address }),
    z.strictObject({ http: address }),
  ])
  .describe(
    'How to connect to the server; required unless source names a registry: {"type": "stdio"} or {"type": "http", "url": …}; also "Stdio" or {"Http": {"url": …}}',
  );

const official = z.strictObject({ name: z.string().max(500), version: z.string().max(200) });
const smithery = z.strictObject({ qualified_name: z.string().max(500) });

const originSchema = z
  .union([
    z.strictObject({ Official: official }),
    z.strictObject({ official }),
    z.strictObject({ Smithery: smithery }),
    z.strictObject({ smithery }),
    z.enum(['Manual', 'manual']),
  ])
  .describe('The registry that describes the server. Fields that are not given here are looked up there at registration');

const variableFields = {
  value: z.string().max(65_536).nullish(),
  secret_ref: z.string().min(1).max(200).nullish().describe('The name of a stored secret'),
  is_secret: z.boolean().default(false).describe('Stored encrypted and never shown again'),
  required: z.boolean().default(false).describe('A source without a value for it is not saved'),
};
const variableNameSchema = z.string().min(1).max(200);
const variableSchema = z.strictObject({ name: variableNameSchema.nullish().describe('The same as the key'), ...variableFields });
export type PackageVariable = z.infer<typeof variableSchema>;

const variablesSchema = z
  .union([
    valuesSchema(z.union([z.string().max(65_536), variableSchema])),
    z.array(z.strictObject({ name: variableNameSchema, ...variableFields })).max(500),
  ])
  .describe(
    'Variables by name: the value itself, or {value or secret_ref, is_secret, required}. A list of {name, value, …} is accepted too',
  );
export type PackageVariables = z.infer<typeof variablesSchema>;

/** [SRC-2] The fields that describe a server by its package, under `mcp` or at the top level of a registration. */
export const packageFields = {
  package: packageSchema.nullish().describe('The package to start, or the server to connect to. Required unless source names a registry'),
  transport: transportSchema.nullish(),
  source: originSchema.nullish(),
  env_vars: variablesSchema.nullish(),
  config: (z.unknown() as z.ZodType<Json>)
    .optional()
    .describe('Values for what a manifest declares. Stored with the source and shown redacted'),
};

export const packageFormSchema = z
  .strictObject(packageFields)
  .meta({ description: 'A server described by its package, or named in a registry' });
export type PackageForm = z.infer<typeof packageFormSchema>;
