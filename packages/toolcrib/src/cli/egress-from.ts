import type { EgressConfig } from '../net/egress.ts';
import { parseAllowedNetwork } from '../net/network-rules.ts';
import { createProxy } from '../net/proxy.ts';
import { readCertificates } from '../net/read-certificates.ts';
import type { Given } from './given.ts';
import { UsageError } from '../model/usage-error.ts';

type EgressOption = 'allow-network' | 'proxy' | 'no-proxy' | 'ca-file';
type WrittenEgress = Pick<EgressConfig, 'allowedNetworks' | 'proxy' | 'noProxy' | 'caFile'>;

/** [SEC-1] Where the server may connect to and how, checked as far as possible before it runs. */
export function egressFrom(given: Given<EgressOption>, environment: Readonly<Record<string, string | undefined>> = process.env) {
  const allowedNetworks = given.list('allow-network');
  for (const network of allowedNetworks) named(given, 'allow-network', () => parseAllowedNetwork(network));
  const wanted = given.text('proxy');
  const proxy = wanted === 'env' ? proxyIn(environment) : wanted;
  const noProxy = [...given.list('no-proxy'), ...(wanted === 'env' ? noProxyIn(environment) : [])];
  if (proxy !== undefined) named(given, 'proxy', () => createProxy(proxy, noProxy));
  const caFile = given.text('ca-file');
  if (caFile !== undefined) named(given, 'ca-file', () => readCertificates(caFile));
  return {
    ...(allowedNetworks.length === 0 ? {} : { allowedNetworks }),
    ...(proxy === undefined ? {} : { proxy, noProxy }),
    ...(caFile === undefined ? {} : { caFile }),
  } satisfies WrittenEgress;
}

/** The usual proxy variables are used only with `env`: they are often set for something else. */
function proxyIn(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];
  return names.map((name) => environment[name]).find((value) => value !== undefined && value !== '');
}

function noProxyIn({ NO_PROXY, no_proxy }: Readonly<Record<string, string | undefined>>): string[] {
  return (NO_PROXY || no_proxy || '').split(/[\s,]+/).filter(Boolean);
}

function named<Name extends EgressOption>(given: Given<Name>, name: Name, parse: () => unknown): void {
  try {
    parse();
  } catch (cause) {
    throw new UsageError(`${given.origin(name) ?? `--${name}`}: ${(cause as Error).message}`, { field: name, cause });
  }
}
