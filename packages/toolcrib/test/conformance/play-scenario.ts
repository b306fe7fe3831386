import { openCrib, type Crib } from '../../src/crib.ts';
import type { Answer } from '../../src/model/call.ts';
import { CribError } from '../../src/model/crib-error.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { groupInputSchema, policyInputSchema } from '../../src/model/policy.ts';
import type { SourceRecord } from '../../src/model/source.ts';
import type { Tool } from '../../src/model/tool.ts';
import { mcpRegistrationSchema } from '../../src/sources/mcp/registration/forms.ts';
import { samplePrincipal } from '../fixtures/samples.ts';
import { temporaryDirectory } from '../running-server.ts';
import { connect, credentialsFor } from './authorize.ts';
import { sampleArguments } from './sample-arguments.ts';
import type { Scenario } from './scenario.ts';

/** She administers, and she calls. */
const alice = samplePrincipal({ sub: 'alice' });

/** Where everything hangs on our refusing to go on. */
const toBeRefused = new Set([
  'auth/iss-normalized',
  'auth/iss-supported-missing',
  'auth/iss-unexpected',
  'auth/iss-wrong-issuer',
  'auth/metadata-issuer-mismatch',
  'auth/resource-mismatch',
  'auth/scope-retry-limit',
  'json-schema-ref-no-deref',
]);

/** Their servers have no tools. */
const withoutTools = new Set(['initialize', 'request-metadata']);

/** No server of the suite takes this long to answer, but a busy machine may. */
const waitMs = 300_000;
/** How often somebody who is asked to connect does so before giving up. */
const patience = 3;

/**
 * Does with the scenario's server what an administrator and an agent do with any server: it is registered, its tools are granted, and each
 * of them is called. Everything the server sees comes from there.
 */
export async function playScenario(scenario: Scenario, say: (line: string) => void): Promise<void> {
  await using directory = await temporaryDirectory();
  const crib = await openCrib({
    dataDir: directory.path,
    limits: { principal: {}, defaultTimeoutMs: waitMs, maxTimeoutMs: waitMs },
    responseBytes: 1_048_576,
    artifacts: { bytesPerPrincipal: 0, days: 1 },
    retentionDays: 90,
    warn: say,
  });
  try {
    await grantEverything(crib);
    await useServer(crib, scenario, say);
    if (toBeRefused.has(scenario.name)) throw new Error('Nothing was refused');
  } catch (error) {
    if (!(error instanceof CribError) || !toBeRefused.has(scenario.name)) throw error;
    say(`Refused, as it should be: ${error.message}`);
  } finally {
    await crib.close({ drainMs: 0 });
  }
}

async function grantEverything(crib: Crib): Promise<void> {
  const { id } = await crib.groups.create(alice, groupInputSchema.parse({ name: 'Everything', selectors: [{ source: '*' }] }));
  const matchers = [{ path: 'sub', operator: 'equals', value: 'alice' }];
  await crib.policies.create(alice, policyInputSchema.parse({ name: 'Alice', matchers, groups: [id] }));
}

async function useServer(crib: Crib, scenario: Scenario, say: (line: string) => void): Promise<void> {
  const form = mcpRegistrationSchema.parse({
    name: 'Scenario',
    mcp_server_url: scenario.serverUrl,
    register_resources_as_tools: true,
    resilience: { startupTimeoutMs: waitMs, requestTimeoutMs: waitMs, restart: { maxAttempts: 0 } },
    ...credentialsFor(scenario),
  });
  const source = await crib.sources.register(alice, form);
  crib.logOf(source.id).onLine(({ text }) => say(text));
  await untilDiscovered(crib, source);
  const tools = toolsOf(crib, source);
  if ((tools.length === 0) !== withoutTools.has(scenario.name)) throw new Error(`It has ${tools.length} tools`);
  for (const { tool, args } of callsOf(scenario, tools)) {
    const { success, error } = await callConnected(crib, tool, args);
    if (!success) throw new CribError(error?.code ?? 'INTERNAL', `${tool.name} failed: ${error?.message}`);
  }
}

/** Its tools may be there only once somebody has connected the source. */
async function untilDiscovered(crib: Crib, source: SourceRecord): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    await crib.settled(source.id, waitMs);
    const status = crib.statusOf(source);
    if (status.state === 'running' && status.message === undefined) return;
    const wantsConnection = status.state === 'running' || (status.state === 'error' && status.code === 'UNAUTHENTICATED');
    if (!wantsConnection || attempt >= patience) throw new CribError('SERVICE_UNAVAILABLE', `It does not run: ${JSON.stringify(status)}`);
    await connect(crib, alice, source.id, 'discovery');
  }
}

function toolsOf(crib: Crib, source: SourceRecord): Tool[] {
  return crib.inventory.accessOf(alice).tools.filter((tool) => tool.source_id === source.id);
}

/** The calls the suite asks for, or every tool once. */
function callsOf({ context }: Scenario, tools: Tool[]): { tool: Tool; args: JsonObject }[] {
  if (context.toolCalls === undefined) return tools.map((tool) => ({ tool, args: sampleArguments(tool, tools) }));
  return context.toolCalls.map(({ name, arguments: args }) => {
    const tool = tools.find(({ definition }) => definition.name === name);
    if (tool === undefined) throw new Error(`The suite wants ${name} to be called, which is not there`);
    // Null does not fit a parameter that has another type, and a call with it is refused before it is made. To leave it out says the same.
    return { tool, args: Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)) };
  });
}

async function callConnected(crib: Crib, tool: Tool, args: JsonObject): Promise<Answer> {
  for (let attempt = 0; ; attempt++) {
    const answer = await call(crib, tool, args);
    if (answer.error?.code !== 'UNAUTHENTICATED' || attempt >= patience) return answer;
    await connect(crib, alice, tool.source_id, 'calls');
  }
}

/** An agent whose user accepts whatever is asked, with what the form suggests. */
async function call(crib: Crib, tool: Tool, args: JsonObject): Promise<Answer> {
  const admitted = await crib.executor.admit(alice, { tool: tool.name, arguments: args });
  admitted.call.onEvent = (event) => {
    if (event.type === 'elicitation') admitted.call.answer(event.elicitation_id, { action: 'accept', content: {} });
  };
  return crib.executor.run(admitted);
}
