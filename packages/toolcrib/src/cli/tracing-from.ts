import { Secret } from '../secrets/secret.ts';
import { samplers, type SamplerConfig, type TracingConfig } from '../tracing/tracing-config.ts';
import type { Given } from './given.ts';
import { UsageError } from '../model/usage-error.ts';

/** [OPS-1] Where traces go, and the other settings from OpenTelemetry's own variables. Without an address there are no traces. */
export function tracingFrom(given: Given<'otlp-endpoint'>, env: NodeJS.ProcessEnv): TracingConfig | undefined {
  const endpoint = given.text('otlp-endpoint');
  if (endpoint === undefined) return undefined;
  const url = URL.parse(endpoint);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    const message = `${given.origin('otlp-endpoint')} must be an address such as http://collector.example.org:4318; set headers in OTEL_EXPORTER_OTLP_HEADERS`;
    throw new UsageError(message, { field: 'otlp-endpoint' });
  }
  const { OTEL_SERVICE_NAME: serviceName } = env;
  const headers = Object.entries(pairsOf(env, 'OTEL_EXPORTER_OTLP_HEADERS')).map(([name, value]) => header(name, value));
  return {
    endpoint: url.href,
    headers: Object.fromEntries(headers),
    ...(serviceName ? { serviceName } : {}),
    resource: pairsOf(env, 'OTEL_RESOURCE_ATTRIBUTES'),
    sampler: samplerFrom(env),
  };
}

/** Pairs `name=value`, percent-encoded and separated by commas. */
function pairsOf(env: NodeJS.ProcessEnv, variable: string): Record<string, string> {
  const parts = (env[variable] ?? '').split(',').filter((part) => part.trim() !== '');
  return Object.fromEntries(
    parts.map((part) => {
      const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(part.trim()) ?? [];
      try {
        if (name !== '') return [decodeURIComponent(name.trim()), decodeURIComponent(value.trim())];
      } catch {
        // Reported below.
      }
      // The text itself is not repeated: there may be a key in it.
      throw new UsageError(`${variable} must be name=value pairs, percent-encoded and separated by commas`);
    }),
  );
}

function header(name: string, value: string): [string, Secret] {
  if (/^[\w!#$%&'*+.^`|~-]{1,200}$/.test(name) && /^[\t\x20-\x7E]*$/.test(value)) return [name, new Secret(value)];
  throw new UsageError('OTEL_EXPORTER_OTLP_HEADERS has a name or a value that no header can have');
}

function samplerFrom(env: NodeJS.ProcessEnv): SamplerConfig {
  const given = env['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const name = samplers.find((sampler) => sampler === given);
  if (name === undefined) throw new UsageError(`OTEL_TRACES_SAMPLER must be one of ${samplers.join(', ')}`);
  const ratio = Number(env['OTEL_TRACES_SAMPLER_ARG'] || 1);
  if (!(ratio >= 0 && ratio <= 1)) throw new UsageError('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1');
  return { name, ratio };
}
