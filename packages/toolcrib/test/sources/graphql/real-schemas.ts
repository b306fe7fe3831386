import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { buildClientSchema, buildSchema, type GraphQLSchema, type IntrospectionQuery } from 'graphql';

interface RealSchema {
  package: string;
  file: string;
  /** At least so many. */
  queries: number;
  mutations: number;
}

/** Schemas of public services, as packages on npm carry them. */
export const realSchemas = {
  'GitHub as SDL': { package: '@octokit/graphql-schema', file: 'schema.graphql', queries: 30, mutations: 240 },
  'GitHub as introspection': { package: '@octokit/graphql-schema', file: 'schema.json', queries: 30, mutations: 240 },
  Sui: { package: '@mysten/sui', file: 'src/graphql/generated/schema.graphql', queries: 30, mutations: 1 },
  IOTA: { package: '@iota/iota-sdk', file: 'src/graphql/generated/2025.2/schema.graphql', queries: 25, mutations: 1 },
} as const satisfies Record<string, RealSchema>;

export function readRealSchema({ package: name, file }: RealSchema): string {
  // The packages do not export their schemas, so the files are found by their folder.
  const manifest = findPackageJSON(name, import.meta.url);
  if (manifest === undefined) throw new Error(`${name} is not installed: run npm ci`);
  return readFileSync(join(dirname(manifest), file), 'utf8');
}

/** As the reference implementation has it. GitHub's has fields twice, which it refuses unless told not to look. */
export function builtSchema(text: string): GraphQLSchema {
  if (!text.startsWith('{')) return buildSchema(text, { assumeValid: true, assumeValidSDL: true });
  const answer = JSON.parse(text) as { data?: IntrospectionQuery };
  return buildClientSchema(answer.data ?? (answer as IntrospectionQuery), { assumeValid: true });
}
