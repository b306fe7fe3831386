import { z } from 'zod';
import { limitNames, processLimitsSchema, type ProcessLimits } from './process-limits.ts';
import { versionRule } from './version-rule.ts';

const runtimes = ['npx', 'uvx', 'node', 'python', 'docker', 'program'] as const;
export type RunRuntime = (typeof runtimes)[number];

const packageForm = /^(npm|pypi):((?:@[^@/\s]+\/)?[^@=<>~!^/\s]+)(?:@(?=.)(.*)|([=<>~!^].*))?$/;

/** A package by its registry, a glob of its name, and which versions; null: whichever, also where none is said. */
export interface PackageRule {
  registry: 'npm' | 'pypi';
  name: string;
  version: string | null;
}

/** Reads `npm:@acme/*`, `npm:server@^1.2`, `pypi:mcp-server-time==2026.*`. */
export function readPackageRule(text: string): PackageRule | undefined {
  const [, registry, name = '', behindAt, behindSign] = packageForm.exec(text) ?? [];
  const version = behindAt ?? behindSign ?? null;
  if (registry === undefined || (version !== null && versionRule(version) === undefined)) return undefined;
  return { registry: registry === 'npm' ? 'npm' : 'pypi', name, version };
}

const packageRule = z
  .string()
  .max(500)
  .refine((text) => readPackageRule(text) !== undefined, 'A package is written like npm:@acme/*, npm:server@^1.2 or pypi:server==1.*');

const pathGlob = z
  .string()
  .max(4096)
  .regex(/^\/(?!\*)[^\0]/, 'A program is named by its absolute path, in which * stands for anything but a slash, and ** for anything')
  .refine((path) => !path.split('/').includes('..'), 'A path is written without ..');

/** The same number for those who say nothing and as the most that somebody may ask for, or one of each. */
function limit(schema: z.ZodType<number | undefined>) {
  return z
    .union([
      schema,
      z.strictObject({ usual: schema, most: schema }).refine(({ usual, most }) => (usual ?? 0) <= (most ?? 0), 'usual is more than most'),
    ])
    .optional();
}

const { memory_mb, cpu_seconds, processes, open_files } = processLimitsSchema.shape;

/** [SEC-2] The operator's file: what may run on this machine. Everything it does not name is refused. */
const rulesSchema = z.strictObject({
  runtimes: z
    .array(z.enum(runtimes))
    .max(20)
    .describe('Runtimes that may start servers: npx, uvx (also uv run), node, python, docker, program'),
  packages: z
    .array(packageRule)
    .max(10_000)
    .describe(
      'For npx and uvx: npm:NAME or pypi:NAME, in which * stands for anything but a slash. With a version (@^1.2, ==1.*, @*) only exact ones that fit',
    )
    .default([]),
  images: z
    .array(z.string().min(1).max(500))
    .max(10_000)
    .describe('For docker: names of images, perhaps with a tag or digest; * stands for anything but a slash')
    .default([]),
  require_digest: z.boolean().describe('Whether an image must be named by its digest').default(false),
  containers: z
    .array(z.string().min(1).max(255))
    .max(10_000)
    .describe('Running containers in which servers may be started; * globs')
    .default([]),
  programs: z
    .array(pathGlob)
    .max(10_000)
    .describe('Absolute paths of programs, of scripts for node and python, and of the folders that they start in')
    .default([]),
  modules: z.array(z.string().min(1).max(200)).max(10_000).describe('For python -m: names of modules; * globs').default([]),
  variables: z
    .array(z.string().regex(/^[A-Za-z_*][A-Za-z0-9_*]{0,199}$/, 'A variable is named like ACME_TOKEN; * stands for any letters'))
    .max(1000)
    .describe('Variables that servers may be given; * globs. One that decides which code is run, such as PYTHONPATH, is named in full')
    .default([]),
  limits: z
    .strictObject({
      memory_mb: limit(memory_mb),
      cpu_seconds: limit(cpu_seconds),
      processes: limit(processes),
      open_files: limit(open_files),
    })
    .describe('Limits for each local server; a source may ask for less')
    .prefault({}),
  user: z
    .string()
    .regex(/^(?:[a-z_][\w.-]{0,31}|\d{1,10}:\d{1,10})$/i, 'A user is a name, or uid:gid')
    .describe('The user local servers run as, a name or uid:gid; docker is the exception: it needs its socket')
    .optional(),
  same_user: z
    .boolean()
    .describe(
      "Lets local servers run as the gateway's own user, who can read its keys, where an issuer is configured and no `user` is named",
    )
    .default(false),
});
export const runRulesSchema = rulesSchema.refine(({ user, same_user: sameUser }) => user === undefined || !sameUser, {
  path: ['same_user'],
  message: 'With a user of their own, servers do not run as the gateway. Take one of both out',
});
export type RunRules = z.infer<typeof runRulesSchema>;

/** The limits of a server that asks for none, and the most it may ask for. */
export function limitsOf({ limits }: RunRules): { usual: ProcessLimits; most: ProcessLimits } {
  const pick = (which: 'usual' | 'most') =>
    Object.fromEntries(
      limitNames.flatMap((name) => {
        const given = limits[name];
        const value = typeof given === 'object' ? given[which] : given;
        return value === undefined ? [] : [[name, value]];
      }),
    ) as ProcessLimits;
  return { usual: pick('usual'), most: pick('most') };
}
