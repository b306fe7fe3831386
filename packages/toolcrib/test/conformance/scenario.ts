import { z } from 'zod';

/** What the suite tells a client about the scenario it is in, apart from the server's address. */
const scenarioSchema = z.object({
  MCP_CONFORMANCE_SCENARIO: z.string().min(1),
  MCP_CONFORMANCE_CONTEXT: z
    .string()
    .default('{}')
    .transform((text): unknown => JSON.parse(text))
    .pipe(
      z.looseObject({
        /** The calls to make; without them it is every tool there is, once. */
        toolCalls: z.array(z.object({ name: z.string(), arguments: z.record(z.string(), z.json()) })).optional(),
      }),
    ),
});

export interface Scenario {
  name: string;
  serverUrl: string;
  context: z.infer<typeof scenarioSchema>['MCP_CONFORMANCE_CONTEXT'];
}

export function readScenario(environment: NodeJS.ProcessEnv, args: readonly string[]): Scenario {
  const { MCP_CONFORMANCE_SCENARIO: name, MCP_CONFORMANCE_CONTEXT: context } = scenarioSchema.parse(environment);
  return { name, context, serverUrl: args.at(-1) ?? '' };
}
