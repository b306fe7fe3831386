import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Client } from 'pg';
import { expect, test } from 'vitest';

/** The real parts tests may need, the variable that says where one is, and how to get one. */
const parts = {
  postgres: {
    variable: 'TOOLCRIB_TEST_POSTGRES_URL',
    advice: 'start one with `.ci/postgres-up.sh up`, which prints its URL',
  },
  docker: {
    variable: 'TOOLCRIB_TEST_DOCKER_IMAGE',
    advice: 'run `.ci/docker-up.sh up`, which starts a daemon if need be and prints the name of the image it makes',
  },
  dockerd: {
    variable: 'TOOLCRIB_TEST_DOCKERD',
    program: 'dockerd',
    advice: 'install docker.io; a daemon of the tests themselves needs root too',
  },
  keycloak: {
    variable: 'TOOLCRIB_TEST_KEYCLOAK_ISSUER',
    advice: 'start one with `docs/keycloak/keycloak-up.sh up`, which prints the address of its issuer',
  },
  schemathesis: {
    variable: 'TOOLCRIB_TEST_SCHEMATHESIS',
    advice: 'install it with `.ci/python-tool-up.sh`, which prints where its command is',
  },
  promtool: {
    variable: 'TOOLCRIB_TEST_PROMTOOL',
    program: 'promtool',
    advice: 'run `.ci/promtool-up.sh`, which prints where it is',
  },
  nginx: {
    variable: 'TOOLCRIB_TEST_NGINX',
    program: 'nginx',
    advice: 'install nginx',
  },
  openssl: {
    variable: 'TOOLCRIB_TEST_OPENSSL',
    program: 'openssl',
    advice: 'install openssl',
  },
  prlimit: {
    variable: 'TOOLCRIB_TEST_PRLIMIT',
    program: 'prlimit',
    advice: 'install util-linux; limits of processes need it',
  },
  npx: {
    variable: 'TOOLCRIB_TEST_NPX',
    program: 'npx',
    advice: 'install npm, or say where npx is; it needs a package registry',
  },
  uvx: {
    variable: 'TOOLCRIB_TEST_UVX',
    program: 'uvx',
    advice: 'install uv with `pip install uv`, or say where uvx is; it needs a package index',
  },
  corpus: {
    variable: 'TOOLCRIB_TEST_CORPUS',
    folder: '../../../../shared/corpus/openapi',
    advice: 'put the OpenAPI documents that test/fixtures/openapi/corpus/README.md lists into a folder, and say which',
  },
  'openapi-core': {
    variable: 'TOOLCRIB_TEST_OPENAPI_CORE',
    advice: 'install it with `.ci/python-tool-up.sh`, which prints where the Python is that knows it',
  },
  httpbin: {
    variable: 'TOOLCRIB_TEST_HTTPBIN',
    advice: 'install it with `.ci/python-tool-up.sh`, which prints where the Python is that knows it',
  },
  'mcp-clients': {
    variable: 'TOOLCRIB_TEST_MCP_CLIENTS',
    advice: 'install them with `.ci/mcp-clients-up.sh`, which prints their folder',
  },
  chromium: {
    variable: 'TOOLCRIB_TEST_CHROMIUM',
    program: 'chromium',
    advice: 'install chromium',
  },
  prism: {
    variable: 'TOOLCRIB_TEST_PRISM',
    advice: 'install it with `.ci/npm-tool-up.sh`, which prints where its command is',
  },
} as const satisfies Record<string, PartDescription>;

interface PartDescription {
  variable: string;
  /** Found on the PATH where the variable is not set. */
  program?: string;
  /** Found there, seen from this file, where the variable is not set. */
  folder?: string;
  advice: string;
}

export type PartName = keyof typeof parts;
/** `url` is what the variable holds, or where the program or the folder was found: where the part is; for Docker the name of the image. */
export type Part = { available: true; url: string } | { available: false; reason: string };

/**
 * Whether a real part is here. To be called at the top of a test file, whose tests then use `describe.skipIf(!part.available)`. Where the
 * part is absent the file says so with a skipped test, or with a failing one when `TOOLCRIB_REQUIRE_PARTS=1`, as in CI.
 */
export function part(name: PartName): Part {
  const found = findPart(name);
  const skipped = !found.available && process.env.TOOLCRIB_REQUIRE_PARTS !== '1';
  test.skipIf(skipped)(`the part "${name}" is ${found.available ? 'here' : `missing: ${found.reason}`}`, () => {
    expect(found).toMatchObject({ available: true });
  });
  return found;
}

function findPart(name: PartName): Part {
  const { variable, advice, program, folder }: PartDescription = parts[name];
  const url = process.env[variable] || findOnPath(program) || findFolder(folder);
  if (url !== undefined) return { available: true, url };
  return { available: false, reason: `${variable} is not set: ${advice}` };
}

function findOnPath(program: string | undefined): string | undefined {
  const folders = program === undefined ? [] : (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, program ?? '')).find((path) => existsSync(path));
}

function findFolder(folder: string | undefined): string | undefined {
  const path = folder === undefined ? undefined : join(import.meta.dirname, folder);
  return path !== undefined && existsSync(path) ? path : undefined;
}

export interface FreshDatabase extends AsyncDisposable {
  name: string;
  url: string;
}

/** A new, empty database on the PostgreSQL server of the tests, or the name of one that the test makes, dropped when it is disposed of. */
export async function freshPostgresDatabase(madeBy: 'us' | 'the test' = 'us'): Promise<FreshDatabase> {
  const postgres = findPart('postgres');
  if (!postgres.available) throw new Error(postgres.reason);
  const name = `toolcrib_test_${randomBytes(8).toString('hex')}`;
  if (madeBy === 'us') await runOnServer(postgres.url, `create database ${name}`);
  const url = new URL(postgres.url);
  url.pathname = `/${name}`;
  return {
    name,
    url: url.href,
    // With force, so that a connection a test has left behind does not keep it alive.
    [Symbol.asyncDispose]: () => runOnServer(postgres.url, `drop database if exists ${name} with (force)`),
  };
}

async function runOnServer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
