import { createClientCredentialTokens } from '../../../src/identity/client-credentials.ts';
import { createConnections } from '../../../src/identity/oauth/connections.ts';
import { createTokenExchange } from '../../../src/identity/token-exchange.ts';
import type { ToolOutput } from '../../../src/model/call.ts';
import { EndSwitch } from '../../../src/model/end-signal.ts';
import type { HttpOperation } from '../../../src/model/http-operation.ts';
import type { JsonObject, JsonSchema } from '../../../src/model/json.ts';
import { openApiDefinitionSchema, type OpenApiDefinition } from '../../../src/sources/openapi/openapi-definition.ts';
import type { Principal } from '../../../src/model/principal.ts';
import type { DefinedSource } from '../../../src/model/source.ts';
import { createRedactor } from '../../../src/secrets/redactor.ts';
import { createSecretStore } from '../../../src/secrets/secret-store.ts';
import { createWireLogs } from '../../../src/sources/upstream/logs/wire-logs.ts';
import { createOpenApiCalls } from '../../../src/sources/openapi/openapi-calls.ts';
import type { CallContext } from '../../../src/sources/source.ts';
import { createConnectionOwners } from '../../../src/sources/upstream/connection-owners.ts';
import { openDatabase } from '../../../src/store/open-database.ts';
import { createStore } from '../../../src/store/store.ts';
import { loopbackEgress } from '../../fixtures/loopback-egress.ts';
import { samplePrincipal, sampleTool, toolWith } from '../../fixtures/samples.ts';
import { sampleKeyRing, writtenKey } from '../../secrets/key-rings.ts';

interface CallerOptions {
  /** Of the definition, beside what every source has. */
  definition?: JsonObject;
  secrets?: Record<string, string>;
  issuerOf?: Parameters<typeof createTokenExchange>[0]['issuerOf'];
}

export interface CallOptions {
  principal?: Principal;
  signal?: EndSwitch;
  schema?: JsonSchema;
  context?: Partial<CallContext>;
}

/** Calls of an OpenAPI source with everything real around them but the supervisor. */
export async function openOpenApiCaller({ definition = {}, secrets: given = {}, issuerOf = () => undefined }: CallerOptions = {}) {
  const database = await openDatabase({ file: ':memory:' });
  const store = createStore(database);
  const keyRing = sampleKeyRing(writtenKey('only'));
  const secrets = createSecretStore({ store, keyRing });
  for (const [name, value] of Object.entries(given)) await secrets.put(name, value);
  const redactors = createRedactor();
  const wireLogs = createWireLogs({ redactors });
  const resolvingFor = (sourceId: string) => ({
    secrets,
    sourceId,
    allowedNames: new Set<string>(),
    baseEnvironment: {},
    redactor: redactors.forSource(sourceId),
  });
  const exchange = createTokenExchange({ egress: loopbackEgress, issuerOf });
  const source: DefinedSource<OpenApiDefinition> = {
    id: 'api',
    name: 'Api',
    namespace: 'api',
    source_type: 'openapi',
    enabled: true,
    definition: openApiDefinitionSchema.parse({ document: { url: 'https://api.example.org/openapi.json' }, ...definition }),
    managed_by: null,
    created_at: 0,
    updated_at: 0,
  };
  const calls = createOpenApiCalls({
    source,
    egress: loopbackEgress,
    resolvingFor,
    wireOf: wireLogs.of,
    connections: createConnections({ egress: loopbackEgress, store, keyRing }).tokens,
    connectionOwners: createConnectionOwners(resolvingFor),
    exchange,
    clientTokens: createClientCredentialTokens({ egress: loopbackEgress }),
  });

  return {
    calls,
    secrets,
    wire: wireLogs.of(source.id),
    call(operation: HttpOperation, args: JsonObject = {}, options: CallOptions = {}): Promise<ToolOutput> {
      const { principal = samplePrincipal(), signal = new EndSwitch(), schema = { type: 'object' } } = options;
      const tool = toolWith(sampleTool({ schema }), { operation });
      const context: CallContext = {
        callId: 'call-1',
        principal,
        signal,
        progress: () => undefined,
        log: () => undefined,
        elicit: async () => ({ action: 'decline' }),
        ...options.context,
      };
      return calls.call(tool, args, context);
    },
    async [Symbol.asyncDispose]() {
      await calls.close();
      await exchange.close();
      await database.close();
    },
  };
}
