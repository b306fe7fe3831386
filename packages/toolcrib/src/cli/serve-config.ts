import { isIP } from 'node:net';
import { isAbsolute, normalize, parse, resolve } from 'node:path';
import type { ServeConfig } from '../server/server-config.ts';
import { parseClaimRule } from '../model/claim-rule.ts';
import type { Matcher } from '../model/policy.ts';
import { pinnings, type Pinning } from '../model/source-definition.ts';
import { bindClaims } from '../identity/claims-by-issuer.ts';
import { isLoopbackHost } from '../net/is-loopback-host.ts';
import { isWrittenKeys } from '../secrets/key-ring.ts';
import { egressFrom } from './egress-from.ts';
import type { Given } from './given.ts';
import type { IssuerConfig } from '../identity/issuer-config.ts';
import { issuersFrom } from './issuers.ts';
import { journalFrom } from './journal-from.ts';
import { loginBridgeFrom } from './login-bridge-from.ts';
import { mcpDoorFrom } from './mcp-door-from.ts';
import { metricsFrom } from './metrics-from.ts';
import { registriesFrom } from './registries-from.ts';
import { serveOptions, type PlaceOption, type ServeOption } from './serve-options.ts';
import { tracingFrom } from './tracing-from.ts';
import { UsageError } from '../model/usage-error.ts';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const hour = 3_600_000;

/** The parsed settings of `serve`. Every error names the option or variable that is wrong. */
export function serveConfig(
  given: Given<ServeOption>,
  { production, env = {} }: { production: boolean; env?: NodeJS.ProcessEnv },
): ServeConfig {
  const place = placeFrom(given);
  if (place.issuers.length === 0) refuseOpenDevelopment({ host: place.host, production, given });
  else refuseUnboundClaims(place);
  const rate = given.number('principal-rate', { least: 0, most: 1_000_000, whole: false });
  const burst = given.number('principal-burst', { least: 1, most: 1_000_000 });
  const concurrency = given.number('principal-concurrency', { least: 0, most: 1_000_000 });
  const requestRate = given.number('request-rate', { least: 0, most: 1_000_000, whole: false });
  const requestBurst = given.number('request-burst', { least: 1, most: 1_000_000 });
  const defaultTimeoutMs = given.number('timeout', { least: 1, most: hour });
  const maxTimeoutMs = given.number('max-timeout', { least: 1, most: hour });
  if (maxTimeoutMs < defaultTimeoutMs) throw new UsageError('--max-timeout must not be shorter than --timeout', { field: 'max-timeout' });
  const logLevel = logLevels.find((level) => level === given.text('log-level'));
  if (logLevel === undefined) throw misfit(given, 'log-level', `must be one of ${logLevels.join(', ')}`);
  const pinning = pinningFrom(given);
  const keys = keysFrom(given);
  const publicUrl = publicUrlFrom(given);
  const configFile = given.text('config');
  const tracing = tracingFrom(given, env);
  return {
    ...place,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    threads: given.number('threads', { least: 1, most: 64 }),
    ...(keys === undefined ? {} : { keys }),
    allowedEnvironment: given.list('allow-env'),
    allowedMounts: given.list('allow-mount').map((folder) => allowedMount(given, folder)),
    ...(configFile === undefined ? {} : { configFile: resolve(configFile) }),
    registries: registriesFrom(given),
    demo: !given.on('no-demo'),
    ...(given.on('embeddings') ? { embeddings: true } : {}),
    allowedHosts: given.list('allowed-host').map((host) => allowedHost(given, host)),
    allowedOrigins: given.list('allowed-origin').map((origin) => allowedOrigin(given, origin)),
    trustedProxies: given.list('trusted-proxy').map((range) => trustedProxy(given, range)),
    bodyLimitBytes: given.number('body-limit', { least: 1, most: 1_073_741_824 }),
    // A burst without a rate would be a limit that never refills.
    principalLimits: { ...(rate > 0 ? { rate_per_second: rate, burst } : {}), ...(concurrency > 0 ? { concurrency } : {}) },
    requestLimits: requestRate > 0 ? { rate_per_second: requestRate, burst: requestBurst } : {},
    defaultTimeoutMs,
    maxTimeoutMs,
    drainMs: given.number('drain', { least: 0, most: hour }),
    responseBytes: given.number('response-bytes', { least: 1024, most: 33_554_432 }),
    artifactDays: given.number('artifact-days', { least: 1, most: 36_500 }),
    artifactBytes: given.number('artifact-bytes', { least: 0, most: 1_099_511_627_776 }),
    retentionDays: given.number('retention', { least: 1, most: 36_500 }),
    auditRetentionDays: given.number('audit-retention', { least: 30, most: 36_500 }),
    ...journalFrom(given),
    ...mcpDoorFrom(given),
    ...loginBridgeFrom(given, { ...place, publicUrl }),
    ...metricsFrom(given),
    ...(tracing === undefined ? {} : { tracing }),
    ...(pinning === undefined ? {} : { pinning }),
    logLevel,
  };
}

function pinningFrom(given: Given<ServeOption>): Pinning | undefined {
  const asked = given.text('pinning');
  const known = pinnings.find((mode) => mode === asked);
  if (asked !== undefined && known === undefined) throw misfit(given, 'pinning', `must be one of ${pinnings.join(', ')}`);
  return known;
}

type Place = Pick<
  ServeConfig,
  | 'host'
  | 'port'
  | 'dataDir'
  | 'databaseUrl'
  | 'issuers'
  | 'adminMatcher'
  | 'runMatcher'
  | 'dockerHost'
  | 'allowedNetworks'
  | 'proxy'
  | 'noProxy'
  | 'caFile'
>;

/** The part that `doctor` needs as well. */
export function placeFrom(given: Given<PlaceOption>): Place {
  const host = given.required('host');
  if (isIP(host) === 0 && !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(host)) {
    throw misfit(given, 'host', 'must be an IP address or a host name, without a port');
  }
  const databaseUrl = databaseFrom(given);
  const dockerHost = dockerHostFrom(given);
  const issuers = issuersFrom(given);
  return {
    host,
    port: given.number('port', { least: 0, most: 65_535 }),
    dataDir: resolve(given.required('data')),
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    issuers,
    ...claimsFrom(given, issuers),
    ...egressFrom(given),
    ...(dockerHost === undefined ? {} : { dockerHost }),
  };
}

export function databaseFrom(given: Given<'database'>): string | undefined {
  const databaseUrl = given.text('database');
  // The address itself is never repeated: there may be a password in it.
  if (databaseUrl !== undefined && !/^postgres(ql)?:\/\//.test(databaseUrl)) {
    throw misfit(given, 'database', 'must look like postgres://user:password@host:5432/database');
  }
  return databaseUrl;
}

/** Everybody on the machine can read a command line, so keys are refused there. */
export function keysFrom(given: Given<'keys'>): string | undefined {
  const keys = given.text('keys');
  if (keys === undefined || given.origin('keys') !== '--keys' || !isWrittenKeys(keys)) return keys;
  throw misfit(given, 'keys', 'must be the path of a file; put the keys themselves into TOOLCRIB_KEYS');
}

interface Openness {
  host: string;
  production: boolean;
  given?: Given<ServeOption>;
}

/** [ID-1] The development server is only for the person who runs it: nobody else may reach it, by an address, a name or a web page. */
export function refuseOpenDevelopment({ host, production, given }: Openness): void {
  const instead = 'pass --issuer <url> (and --audience <name>) of your identity provider';
  if (production) throw new UsageError(`Without an issuer, Toolcrib is for development only, but NODE_ENV is production: ${instead}`);
  const hostname = URL.parse(`http://${isIP(host) === 6 ? `[${host}]` : host}`)?.hostname ?? '';
  if (!isLoopbackHost(hostname)) {
    throw new UsageError(
      `Without an issuer, Toolcrib issues tokens to anyone, so it listens only on a loopback address, not on ${host}: ${instead}`,
      {
        field: 'host',
      },
    );
  }
  const opening = (['public-url', 'allowed-host', 'allowed-origin'] as const).find((name) => given?.origin(name) !== undefined);
  if (given !== undefined && opening !== undefined) {
    throw misfit(
      given,
      opening,
      `opens the server to others, but without an issuer it is only for development on this machine: leave it out, or ${instead}`,
    );
  }
}

/** [BFF-6] An option cannot say for which of several issuers it is, so it is refused there. */
function claimsFrom(given: Given<PlaceOption>, issuers: readonly IssuerConfig[]): Pick<ServeConfig, 'adminMatcher' | 'runMatcher'> {
  const claims = { adminMatcher: claimMatcher(given, 'admin-claim'), runMatcher: claimMatcher(given, 'run-claim') };
  const vague = (['admin-claim', 'run-claim'] as const).find((name) => issuers.length > 1 && given.origin(name) !== undefined);
  if (vague !== undefined) {
    const field = vague.replace('-', '_');
    throw misfit(given, vague, `does not say for which issuer: write ${field} into the entry of that issuer instead`);
  }
  return claims;
}

function refuseUnboundClaims({ issuers, adminMatcher, runMatcher }: Place): void {
  try {
    bindClaims(issuers, { adminMatcher, runMatcher });
  } catch (error) {
    throw new UsageError((error as Error).message, { field: 'admin-claim', cause: error });
  }
}

function claimMatcher(given: Given<PlaceOption>, name: 'admin-claim' | 'run-claim'): Matcher {
  const matcher = parseClaimRule(given.required(name));
  if (matcher === undefined) throw misfit(given, name, `must be path=value, such as ${serveOptions[name].default}`);
  return matcher;
}

/** Authorization servers send browsers back to this address. */
function publicUrlFrom(given: Given<ServeOption>): string | undefined {
  const text = given.text('public-url');
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw misfit(given, 'public-url', 'must be an address such as https://crib.example.org');
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function allowedHost(given: Given<ServeOption>, host: string): string {
  const url = URL.parse(`http://${host}`);
  if (url !== null && url.host !== '' && url.host === host.toLowerCase().replace(/:80$/, '')) return url.host;
  throw misfit(given, 'allowed-host', `must be a host name, or name:port, not ${JSON.stringify(host)}`);
}

function allowedOrigin(given: Given<ServeOption>, origin: string): string {
  if (/^https?:/i.test(origin) && URL.parse(origin)?.origin === origin.toLowerCase()) return origin.toLowerCase();
  throw misfit(given, 'allowed-origin', `must be like https://console.example.org, without a path, not ${JSON.stringify(origin)}`);
}

/** A trusted proxy can write any address into the record, so nobody is trusted by accident: no names, and not the whole world. */
function trustedProxy(given: Given<ServeOption>, range: string): string {
  const [address = '', prefix, ...rest] = range.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : 0;
  if (isIP(address) !== 0 && rest.length === 0 && length >= 1 && length <= bits) return range;
  throw misfit(given, 'trusted-proxy', `must be an address or a range, such as 10.0.0.5 or 10.0.0.0/24, not ${JSON.stringify(range)}`);
}

/** The root folder is refused: nobody means the whole machine. */
function allowedMount(given: Given<ServeOption>, folder: string): string {
  const path = normalize(folder);
  if (isAbsolute(folder) && path !== parse(path).root) return path;
  throw misfit(given, 'allow-mount', `must be the absolute path of a folder, such as /srv/mcp, not ${JSON.stringify(folder)}`);
}

function dockerHostFrom(given: Given<PlaceOption>): string | undefined {
  const address = given.text('docker-host');
  if (address === undefined || /^[a-z]+:\/\/\S+$/.test(address)) return address;
  throw misfit(given, 'docker-host', `must be an address such as unix:///var/run/docker.sock, not ${JSON.stringify(address)}`);
}

function misfit<Name extends ServeOption>(given: Given<Name>, name: Name, what: string): UsageError {
  return new UsageError(`${given.origin(name) ?? `--${name}`} ${what}`, { field: name });
}
