import { openCrib, type Crib } from '../../src/crib.ts';
import type { Answer } from '../../src/model/call.ts';
import { CribError } from '../../src/model/crib-error.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { groupInputSchema, policyInputSchema } from '../../src/model/policy.ts';
import type { Tool } from '../../src/model/tool.ts';
import { mcpRegistrationSchema, type McpRegistrationInput } from '../../src/sources/mcp/registration/forms.ts';
import { samplePrincipal } from '../fixtures/samples.ts';
import { temporaryDirectory } from '../running-server.ts';
import { sampleArguments } from './sample-arguments.ts';
import type { Scenario } from './scenario.ts';

const caller = samplePrincipal({ sub: 'alice' });

/** The schema of its only tool refers to another address, from which nothing may be fetched: so the call is refused. */
const refused = new Set(['json-schema-ref-no-deref']);

/**
 * Does with the scenario's server what an administrator and an agent do with any server: it is registered, its tools are granted, and each
 * of them is called. Everything the server sees comes from there.
 */
export async function playScenario(scenario: Scenario, say: (line: string) => void): Promise<void> {
  await using directory = await temporaryDirectory();
  const crib = await openCrib({
    dataDir: directory.path,
    limits: { principal: {}, defaultTimeoutMs: 30_000, maxTimeoutMs: 600_000 },
    retentionDays: 90,
    warn: say,
  });
  try {
    await grantEverything(crib);
    const sourceId = await register(crib, {
      name: 'Scenario',
      mcp_server_url: scenario.serverUrl,
      register_resources_as_tools: true,
      resilience: { restart: { maxAttempts: 0 } },
    });
    for (const line of crib.logOf(sourceId).tail(100)) say(line.text);
    for (const { tool, args } of callsOf(scenario, toolsOf(crib, sourceId))) {
      const problem = await problemOf(call(crib, tool, args));
      say(`${tool.name}: ${problem ?? 'done'}`);
      if ((problem !== undefined) !== refused.has(scenario.name)) throw new Error(`The call of ${tool.name} did not end as it should`);
    }
  } finally {
    await crib.close({ drainMs: 0 });
  }
}

async function grantEverything(crib: Crib): Promise<void> {
  const { id } = await crib.groups.create(caller, groupInputSchema.parse({ name: 'Everything', selectors: [{ source: '*' }] }));
  const matchers = [{ path: 'sub', operator: 'equals', value: 'alice' }];
  await crib.policies.create(caller, policyInputSchema.parse({ name: 'Alice', matchers, groups: [id] }));
}

async function register(crib: Crib, form: McpRegistrationInput): Promise<string> {
  const source = await crib.sources.register(caller, mcpRegistrationSchema.parse(form));
  await crib.settled(source.id, 30_000);
  const status = crib.statusOf(source);
  if (status.state !== 'running') throw new Error(`The source is not running: ${JSON.stringify(status)}`);
  return source.id;
}

function toolsOf(crib: Crib, sourceId: string): Tool[] {
  const { permissions } = crib.counter.accessOf(caller);
  return [...permissions.values()].map(({ tool }) => tool).filter((tool) => tool.source_id === sourceId);
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

/** An agent whose user accepts whatever is asked, with what the form suggests. */
async function call(crib: Crib, tool: Tool, args: JsonObject): Promise<Answer> {
  const admitted = await crib.executor.admit(caller, { tool: tool.name, arguments: args });
  admitted.call.onEvent = (event) => {
    if (event.type === 'elicitation') admitted.call.answer(event.elicitation_id, { action: 'accept', content: {} });
  };
  return crib.executor.run(admitted);
}

/** What went wrong with a call, before it was made or in its answer. */
async function problemOf(answer: Promise<Answer>): Promise<string | undefined> {
  try {
    const { success, error } = await answer;
    return success ? undefined : (error?.message ?? 'no reason was given');
  } catch (error) {
    if (error instanceof CribError) return error.message;
    throw error;
  }
}
