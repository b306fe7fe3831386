import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { Tracer } from '../model/tracing.ts';
import type { Egress } from '../net/egress.ts';
import { samplerOf } from './sampler-of.ts';
import { SpanSender } from './span-sender.ts';
import { tracerOver } from './tracer-over.ts';
import type { TracingConfig } from './tracing-config.ts';

export interface Tracing {
  readonly tracer: Tracer;
  /** How many spans the collector accepted, and how many were dropped. */
  readonly sent: number;
  readonly dropped: number;
  /** Sends the spans that wait, for a limited time. */
  close(): Promise<void>;
}

export interface OpenTracingInput {
  config: TracingConfig;
  egress: Egress;
  version: string;
  warn(message: string): void;
}

const flushMs = 2000;

/** [OPS-1] Traces over OTLP. Loaded only if a collector is configured: loading OpenTelemetry slows the start noticeably. */
export function openTracing({ config, egress, version, warn }: OpenTracingInput): Tracing {
  const url = new URL(`${config.endpoint.replace(/\/+$/, '')}/v1/traces`);
  // The operator has configured this address.
  const client = egress.trusting([url.origin]).httpClient({ origin: url.origin, maxConnections: 1 });
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  for (const [name, value] of Object.entries(config.headers ?? {}))
    headers[name.toLowerCase()] = typeof value === 'string' ? value : value.reveal();

  async function post(batch: ReadableSpan[], signal: AbortSignal): Promise<number> {
    const body = Buffer.from(JsonTraceSerializer.serializeRequest(batch) ?? []).toString();
    const response = await client.request({ method: 'POST', url, headers, body, signal });
    // Only the status of the response matters.
    await response.body.dump();
    return response.status;
  }

  const sender = new SpanSender({ post, warn });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      ...config.resource,
      'service.name': config.serviceName ?? config.resource?.['service.name'] ?? 'toolcrib',
      'service.version': version,
    }),
    sampler: samplerOf(config.sampler ?? { name: 'parentbased_always_on', ratio: 1 }),
    spanProcessors: [sender],
  });
  return {
    tracer: tracerOver(provider.getTracer('toolcrib', version)),
    get sent() {
      return sender.sent;
    },
    get dropped() {
      return sender.dropped;
    },
    async close() {
      await sender.close(flushMs);
      await client.destroy();
    },
  };
}
