import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { parseCommandLine } from '../../src/cli/parse-command-line.ts';
import { serve } from '../../src/cli/serve.ts';
import { tracingFrom } from '../../src/cli/tracing-from.ts';
import { Secret } from '../../src/secrets/secret.ts';

function tracing(args: string[], env: Record<string, string> = {}) {
  const given = parseCommandLine(serve, args, env);
  if (given === 'help') throw new Error('Nobody asked for help');
  return tracingFrom(given, env);
}

const revealed = (value: unknown) => (value instanceof Secret ? value.reveal() : undefined);

test('[OPS-1] there are no traces without the address of a collector', () => {
  expect(tracing([], { OTEL_SERVICE_NAME: 'crib', OTEL_TRACES_SAMPLER: 'nonsense' })).toBeUndefined();
});

test('[OPS-1] the standard OpenTelemetry variables say where traces go, and their headers stay hidden', () => {
  const config = tracing([], {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20the-key, x-tenant=a%2Cb',
    OTEL_SERVICE_NAME: 'crib',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,team=tools',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
  });
  expect(config).toMatchObject({
    endpoint: 'http://collector:4318/',
    serviceName: 'crib',
    resource: { 'deployment.environment.name': 'test', team: 'tools' },
    sampler: { name: 'parentbased_traceidratio', ratio: 0.25 },
  });
  expect(revealed(config?.headers?.['authorization'])).toBe('Bearer the-key');
  expect(revealed(config?.headers?.['x-tenant'])).toBe('a,b');
  expect(inspect(config, { depth: 5 }) + JSON.stringify(config)).not.toContain('the-key');
});

test('[OPS-1] the option overrides the variable', () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://variable:4318' };
  expect(tracing(['--otlp-endpoint', 'https://option.example/otlp'], env)?.endpoint).toBe('https://option.example/otlp');
});

test.each<[args: string[], env: Record<string, string>, words: string]>([
  [['--otlp-endpoint', 'collector:4318'], {}, '--otlp-endpoint must be an address'],
  [['--otlp-endpoint', 'http://user:secret@collector'], {}, '--otlp-endpoint must be an address'],
  [['--otlp-endpoint', 'http://c'], { OTEL_EXPORTER_OTLP_HEADERS: 'secret' }, 'OTEL_EXPORTER_OTLP_HEADERS must be name=value'],
  [['--otlp-endpoint', 'http://c'], { OTEL_EXPORTER_OTLP_HEADERS: 'a=%E0%A4%A' }, 'OTEL_EXPORTER_OTLP_HEADERS must be name=value'],
  [['--otlp-endpoint', 'http://c'], { OTEL_EXPORTER_OTLP_HEADERS: 'a%0D%0Ab=1' }, 'that no header can have'],
  [['--otlp-endpoint', 'http://c'], { OTEL_EXPORTER_OTLP_HEADERS: 'a=1%0D%0Ab' }, 'that no header can have'],
  [['--otlp-endpoint', 'http://c'], { OTEL_TRACES_SAMPLER: 'jaeger_remote' }, 'OTEL_TRACES_SAMPLER must be one of'],
  [['--otlp-endpoint', 'http://c'], { OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1'],
])('[OPS-1] %j with %j is refused with the reason', (args, env, words) => {
  expect(() => tracing(args, env)).toThrow(words);
});
