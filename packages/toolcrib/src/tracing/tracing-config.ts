import type { Secret } from '../secrets/secret.ts';

export interface TracingConfig {
  /** The address of the collector for OTLP over HTTP, without `/v1/traces`. */
  endpoint: string;
  /** Sent with every batch; often contains a key. */
  headers?: Readonly<Record<string, Secret | string>>;
  serviceName?: string;
  /** Resource attributes of every span. */
  resource?: Readonly<Record<string, string>>;
  sampler?: SamplerConfig;
}

export const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export interface SamplerConfig {
  name: (typeof samplers)[number];
  /** From 0 to 1, for samplers with a ratio. */
  ratio: number;
}
