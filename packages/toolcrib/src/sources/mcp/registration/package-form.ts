import { z } from 'zod';
import type { Json } from '../../../model/json.ts';
import { valuesSchema } from '../../registration/value-input.ts';

export const runtimeHintSchema = z.enum(['uvx', 'npx', 'python', 'node', 'docker']);

const packageSchema = z.strictObject({
  package_type: z
    .enum(['npm', 'pypi', 'docker', 'binary', 'http'])
    .describe('npm is started with npx, pypi with uvx, docker with docker run, a binary directly; http is only connected to'),
  // Not required here, so that its absence is answered with the words of SRC-10.
  identifier: z
    .string()
    .max(512)
    .optional()
    .describe('Required. The package, the image, the path of the program, or a name for what is connected to'),
  version: z.string().max(100).optional().describe('An exact version, or a tag'),
  program: z
    .string()
    .regex(/^[^\s-]\S*$/, 'The name of a program, such as mcp-server-git')
    .max(200)
    .optional()
    .describe('For npm and pypi: the program of the package to run, where it does not have the name of the package'),
  with: z
    .array(
      z
        .string()
        .regex(/^[^\s-]/, 'The name of a package')
        .max(200),
    )
    .max(20)
    .optional()
    .describe('For pypi, and for npm with a program: further packages that it needs'),
  runtime_hint: runtimeHintSchema.optional().describe('For a binary that is a script: python or node'),
  args: z.array(z.string().max(32_768)).max(400).optional().describe('Given to the server as they are; no shell reads them'),
});
export type PackageInput = z.infer<typeof packageSchema>;

const transportSchema = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('stdio') }),
    z.strictObject({ type: z.literal('http'), url: z.string().max(2048) }),
  ])
  .describe('Required. How the server is spoken to');

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
  .describe('Where the description of the server was found; for people');
export type OriginInput = z.infer<typeof originSchema>;

const packageVariableSchema = z
  .strictObject({
    value: z.string().max(65_536).optional(),
    secret_ref: z.string().min(1).max(200).optional().describe('The name of a stored secret'),
    is_secret: z.boolean().default(false).describe('Stored sealed and never shown again'),
    required: z.boolean().default(false).describe('Without a value the source is not saved'),
  })
  .refine(({ value, secret_ref }) => value === undefined || secret_ref === undefined, 'Give a value or a secret_ref, not both');

/** [SRC-2] A server described by its package. */
export const packageFormSchema = z
  .strictObject({
    package: packageSchema.optional().describe('Required. What is started or connected to'),
    transport: transportSchema.optional(),
    source: originSchema.optional(),
    env_vars: valuesSchema(packageVariableSchema).optional(),
    config: (z.unknown() as z.ZodType<Json>)
      .optional()
      .describe('Stored with the source and shown redacted; fills only what a manifest declares'),
  })
  .meta({ required: ['package', 'transport'], description: 'A server described by its package' });
export type PackageForm = z.infer<typeof packageFormSchema>;
