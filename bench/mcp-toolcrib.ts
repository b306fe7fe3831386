import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mcpDefinitionSchema, type McpDefinition } from '../packages/toolcrib/src/sources/mcp/mcp-definition.ts';
import type { SourceRecord } from '../packages/toolcrib/src/model/source.ts';
import type { BenchIssuer } from './issuer.ts';
import type { Upstream } from './peers/peers.ts';
import { seed, type DatabasePlace } from './seed.ts';
import type { ServerProcess } from './server-process.ts';
import { startToolcrib } from './toolcrib.ts';
import { claimsOf, userRole } from './users.ts';

/** A server that is started inside a running container. */
interface ContainedServer {
  kind: 'exec';
  container: string;
  command: string[];
}

type Reached = Upstream | ContainedServer;

/** An MCP server as an administrator would have registered it. */
export function sourceOf(namespace: string, upstream: Reached, how: Partial<McpDefinition>): SourceRecord {
  const definition = mcpDefinitionSchema.parse({ ...reach(upstream), ...how });
  return {
    id: randomUUID(),
    name: namespace,
    namespace,
    source_type: 'mcp',
    enabled: true,
    definition,
    managed_by: null,
    created_at: 1,
    updated_at: 1,
  };
}

function reach(upstream: Reached): object {
  switch (upstream.kind) {
    case 'stdio':
      return { command: upstream.command };
    case 'http':
      return { transport_type: 'streamable_http', server_url: upstream.url };
    case 'exec':
      return { command: upstream.command, container: { name: upstream.container } };
  }
}

/** Starts Toolcrib with these sources and waits until a user sees all of their tools. */
export async function startWithSources(issuer: BenchIssuer, dataDir: string, sources: SourceRecord[], env?: NodeJS.ProcessEnv) {
  const place: DatabasePlace = { file: join(dataDir, 'toolcrib.db') };
  await seed(place, { sources });
  const runRules = join(dataDir, 'run-rules.json');
  await writeFile(runRules, JSON.stringify(rulesFor(sources)));
  const server = await startToolcrib({ issuer: issuer.issuer, dataDir, runRules, ...(env && { env }) });
  await untilListed(server, issuer.mint(claimsOf(0, [userRole])), sources);
  return { server, place };
}

/** [SEC-2] Rules under which the commands of these sources may run, as the user who measures. */
function rulesFor(sources: SourceRecord[]): object {
  const programs = sources.flatMap(({ definition }) => (definition as McpDefinition).command ?? []);
  return { runtimes: ['node'], programs: [...new Set(programs)], variables: ['*'], same_user: true };
}

async function untilListed({ port }: ServerProcess, token: string, sources: SourceRecord[]): Promise<void> {
  for (const end = performance.now() + 30_000; performance.now() < end;) {
    const response = await fetch(`http://127.0.0.1:${port}/api/bff/tools`, { headers: { authorization: `Bearer ${token}` } });
    const list = await response.text();
    if (sources.every(({ namespace }) => list.includes(`"${namespace}:echo"`))) return;
    await sleep(50);
  }
  throw new Error('The tools of the MCP servers did not appear within 30 s');
}
