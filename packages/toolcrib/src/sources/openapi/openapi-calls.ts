import type { ToolOutput } from '../../model/call.ts';
import { CribError } from '../../model/crib-error.ts';
import { EndSwitch, type EndSignal } from '../../model/end-signal.ts';
import type { JsonObject } from '../../model/json.ts';
import { TimeoutError } from '../../model/named-errors.ts';
import type { DefinedSource } from '../../model/source.ts';
import type { Tool } from '../../model/tool.ts';
import type { HttpResponse } from '../../net/http-exchange.ts';
import type { WireLog } from '../upstream/logs/wire-logs.ts';
import type { CallContext } from '../source.ts';
import { createExchange } from './exchange.ts';
import type { OpenApiDefinition } from './openapi-definition.ts';
import type { SendOperation } from './poll/operation-answer.ts';
import { createUpstreams, type UpstreamsInput } from '../upstream/upstreams.ts';

interface OpenApiCallsInput extends UpstreamsInput {
  source: DefinedSource<OpenApiDefinition>;
  wireOf(sourceId: string): WireLog;
}

/** Calls the tools of one source, until the source's definition changes. */
export interface OpenApiCalls {
  /** Throws a `CribError` with `upstreamStatus` for every status but success. */
  call(tool: Tool, args: JsonObject, context: CallContext): Promise<ToolOutput>;
  /** [ID-5] Discards the credentials that were resolved for this owner. */
  endSessionsOf(owner: string): void;
  /** [ENV-1] The next call resolves all secrets again. */
  secretsChanged(): void;
  /** Aborts requests in flight. */
  close(): Promise<void>;
}

/** [HTTP-1] Each tool holds everything that a call needs, so that calls never read the document. */
export function createOpenApiCalls(input: OpenApiCallsInput): OpenApiCalls {
  const { source } = input;
  const { requestTimeoutMs } = source.definition.resilience;
  const upstreams = createUpstreams(input);
  const exchange = createExchange({ upstreams, wireLog: input.wireOf(source.id), origins: source.definition.origins });

  return {
    async call(tool, args, context) {
      const { operation } = tool;
      if (operation === null) throw new CribError('INTERNAL', `The tool ${tool.name} has no HTTP operation`);
      const { poll: profile } = operation;
      if (profile === null) {
        const { keepsRedirects = false } = context;
        const { output } = await exchange({ tool, operation, request: { args }, context, signal: context.signal, keepsRedirects });
        return output;
      }
      const send: SendOperation = (request) =>
        within(context.signal, requestTimeoutMs, async (signal) => {
          const { response, target, output } = await exchange({ tool, operation, request, context, signal, keepsRedirects: true });
          const { origin } = new URL(operation.server);
          return { status: response.status, headers: plainHeaders(response), url: `${origin}${target}`, output };
        });
      const { pollOperation } = await import('./poll/poll-operation.ts');
      return pollOperation({ operation, profile, args, context, send });
    },
    endSessionsOf: (owner) => upstreams.endSessionsOf(owner),
    secretsChanged: () => upstreams.secretsChanged(),
    close: () => upstreams.close(),
  };
}

/** The call as a whole may take hours; a single request may not. */
async function within<Result>(outer: EndSignal, ms: number, work: (signal: EndSignal) => Promise<Result>): Promise<Result> {
  const signal = new EndSwitch();
  const end = () => signal.end(outer.reason);
  if (outer.aborted) end();
  outer.addEventListener('abort', end, { once: true });
  const timer = setTimeout(() => signal.end(new TimeoutError(`The service did not answer within ${ms} ms`)), ms);
  try {
    return await work(signal);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', end);
  }
}

function plainHeaders({ headers }: HttpResponse): Record<string, string> {
  const entries = Object.entries(headers).filter((entry): entry is [string, string | string[]] => entry[1] !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'string' ? value : value.join(', ')]));
}
