import { z } from 'zod';

const text = z.string().optional();

/** What a scenario gives its client to work with. */
const contextSchema = z.object({
  /** The calls to make; without them it is every tool there is, once. */
  toolCalls: z.array(z.object({ name: z.string(), arguments: z.record(z.string(), z.json()) })).optional(),
  /** A client that was registered by hand, and how it proves that it is the one. */
  client_id: text,
  client_secret: text,
  private_key_pem: text,
  signing_algorithm: text,
  /** A token of a workload's, which stands for the client. */
  valid_jwt: text,
  /** A token of a person's, to be exchanged at the one who gave it. */
  idp_id_token: text,
  idp_client_id: text,
  idp_token_endpoint: text,
});

/** What the suite tells a client, apart from the server's address. */
const environmentSchema = z.object({
  MCP_CONFORMANCE_SCENARIO: z.string().min(1),
  MCP_CONFORMANCE_CONTEXT: z
    .string()
    .default('{}')
    .transform((json): unknown => JSON.parse(json))
    .pipe(contextSchema),
});

export interface Scenario {
  name: string;
  serverUrl: string;
  context: z.infer<typeof contextSchema>;
}

export function readScenario(environment: NodeJS.ProcessEnv, args: readonly string[]): Scenario {
  const { MCP_CONFORMANCE_SCENARIO: name, MCP_CONFORMANCE_CONTEXT: context } = environmentSchema.parse(environment);
  return { name, context, serverUrl: args.at(-1) ?? '' };
}
