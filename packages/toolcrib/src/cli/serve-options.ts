import { usualConfig } from '../server/server-config.ts';
import { publicRegistries } from '../sources/mcp/registry/registry-lookup.ts';
import type { OptionTable } from '../model/option-table.ts';

const { adminMatcher, runMatcher, principalLimits, requestLimits } = usualConfig;

/** Where the server is and what it stands on; `doctor` looks at exactly these. */
export const placeOptions = {
  port: { value: 'number', help: 'The port to listen on; 0 takes any free one', env: 'TOOLCRIB_PORT', default: String(usualConfig.port) },
  host: { value: 'address', help: 'The address to listen on', env: 'TOOLCRIB_HOST', default: usualConfig.host },
  data: { value: 'folder', help: 'Where the embedded database and all other state lives', env: 'TOOLCRIB_DATA', default: '.toolcrib' },
  database: { value: 'url', help: 'A PostgreSQL database to use instead of the embedded one: postgres://…', env: 'TOOLCRIB_DATABASE' },
  issuer: {
    value: 'url',
    many: true,
    help: 'Accepts the tokens of this issuer, written as in their `iss` claim',
    envHelp: 'addresses separated by spaces, or a JSON list of issuer configurations',
    env: 'TOOLCRIB_ISSUERS',
  },
  audience: {
    value: 'name',
    help: 'The audience that the `aud` claim of a token must contain',
    env: 'TOOLCRIB_AUDIENCE',
    default: 'toolcrib-gateway',
  },
  'admin-claim': {
    value: 'path=value',
    help: 'The claim that makes an administrator: at this path it is, or contains, this value. A path is dotted, or a JSON Pointer where names contain dots. With several issuers, set admin_claim for each',
    env: 'TOOLCRIB_ADMIN_CLAIM',
    default: `${adminMatcher.path}=${adminMatcher.value}`,
  },
  'run-claim': {
    value: 'path=value',
    help: 'The claim that lets an administrator register programs to start on this machine, written like --admin-claim. In development all administrators may. With several issuers, set run_claim for each',
    env: 'TOOLCRIB_RUN_CLAIM',
    default: `${runMatcher.path}=${runMatcher.value}`,
  },
  'allow-insecure-issuer': { help: 'Allows issuers over plain http on other machines' },
  'allow-network': {
    value: 'network',
    many: true,
    help: 'Allows sources at this non-public address: a range such as 10.0.0.0/8, an address, a host name, *.example.org, loopback or private. Default: in development loopback, and private with a warning; with --issuer none',
    env: 'TOOLCRIB_ALLOWED_NETWORKS',
  },
  proxy: {
    value: 'url',
    help: 'Connects through this proxy: http://user:password@host:3128, where a password belongs in the variable. `env` uses HTTPS_PROXY or HTTP_PROXY, and NO_PROXY',
    env: 'TOOLCRIB_PROXY',
  },
  'no-proxy': {
    value: 'host',
    many: true,
    help: 'Connects to this host and its subdomains without the proxy',
    env: 'TOOLCRIB_NO_PROXY',
  },
  'ca-file': { value: 'file', help: 'Trusts the certificates in this PEM file in addition to the usual ones', env: 'TOOLCRIB_CA_FILE' },
  'docker-host': {
    value: 'address',
    help: 'Where Docker listens, for sources in containers; unix:///var/run/docker.sock by default',
    env: 'DOCKER_HOST',
  },
  'run-rules': {
    value: 'file',
    help: 'A YAML file with the programs that may run on this machine. Default: in development everything except shells, inline code and packages from URLs, with --issuer nothing',
    env: 'TOOLCRIB_RUN_RULES',
  },
} as const satisfies OptionTable;

/** [SEC-3] */
export const keysOption = {
  keys: {
    value: 'file',
    help: 'A file with the keys that encrypt secrets, the newest first: `kid:base64` or JSON. Default: keys.json in the data folder',
    envHelp: 'the file, or the keys themselves',
    env: 'TOOLCRIB_KEYS',
  },
} as const satisfies OptionTable;

/** [SRC-6] */
export const configOption = {
  config: {
    value: 'file',
    help: 'Settings, sources, groups and policies as code: applied at the start, and whenever the file changes',
    env: 'TOOLCRIB_CONFIG',
  },
} as const satisfies OptionTable;

export const serveOptions = {
  ...placeOptions,
  ...keysOption,
  ...configOption,
  'public-url': {
    value: 'url',
    help: 'Where browsers reach the server when they return from an authorization server; by default the address it listens on',
    env: 'TOOLCRIB_PUBLIC_URL',
  },
  threads: {
    value: 'number',
    help: 'How many threads speak HTTP with callers, from 1 to 64. More than one is for busy servers with cores to spare, on Linux',
    env: 'TOOLCRIB_THREADS',
    default: String(usualConfig.threads),
  },
  'allowed-host': {
    value: 'host',
    many: true,
    help: 'Also accepts this Host header: a name, or name:port',
    env: 'TOOLCRIB_ALLOWED_HOSTS',
  },
  'allowed-origin': {
    value: 'origin',
    many: true,
    help: 'Allows pages of this origin to use the API',
    env: 'TOOLCRIB_ALLOWED_ORIGINS',
  },
  'trusted-proxy': {
    value: 'address',
    many: true,
    help: 'Trusts X-Forwarded-For from a proxy at this address or in this range: 10.0.0.5, 10.0.0.0/24. The record then shows the address of the caller',
    env: 'TOOLCRIB_TRUSTED_PROXIES',
  },
  'allow-env': {
    value: 'name',
    many: true,
    help: 'Allows sources to read this environment variable of the server as ${NAME}',
    env: 'TOOLCRIB_ALLOWED_ENV',
  },
  'allow-mount': {
    value: 'folder',
    many: true,
    help: 'Allows containers to mount this folder and its contents',
    env: 'TOOLCRIB_ALLOWED_MOUNTS',
  },
  registry: {
    value: 'url',
    help: 'The MCP registry for `toolcrib add registry:…` (API version 0.1); `off` disables it. The secret registry.official holds its token',
    env: 'TOOLCRIB_REGISTRY',
    default: publicRegistries.official,
  },
  'smithery-registry': {
    value: 'url',
    help: 'The same for `smithery:…`. The secret registry.smithery holds its token',
    env: 'TOOLCRIB_SMITHERY_REGISTRY',
    default: publicRegistries.smithery,
  },
  'no-demo': { help: 'In development: starts without the demo server and without the policy that lets everybody use every tool' },
  embeddings: { help: 'Also finds tools by meaning; needs the package @toolcrib/embeddings' },
  'body-limit': { value: 'bytes', help: 'The largest request body', default: String(usualConfig.bodyLimitBytes) },
  'principal-rate': {
    value: 'number',
    help: 'Calls per second for each user; 0 sets no limit',
    default: String(principalLimits.rate_per_second),
  },
  'principal-burst': {
    value: 'number',
    help: 'How many calls of one user may come at once before the rate applies',
    default: String(principalLimits.burst),
  },
  'principal-concurrency': {
    value: 'number',
    help: 'How many calls of one user may run at the same time; 0 sets no limit',
    default: String(principalLimits.concurrency),
  },
  'request-rate': {
    value: 'number',
    help: 'Searches, registrations, previews and started connections per second for each user; 0 sets no limit',
    default: String(requestLimits.rate_per_second),
  },
  'request-burst': {
    value: 'number',
    help: 'How many of these may come at once before the rate applies',
    default: String(requestLimits.burst),
  },
  timeout: { value: 'ms', help: 'Default timeout of a call', default: String(usualConfig.defaultTimeoutMs) },
  'max-timeout': { value: 'ms', help: 'The longest timeout a caller may ask for', default: String(usualConfig.maxTimeoutMs) },
  drain: { value: 'ms', help: 'Grace period for running calls when the server stops', default: String(usualConfig.drainMs) },
  'response-bytes': {
    value: 'bytes',
    help: 'The largest answer that is returned whole. A larger one is cut, and the rest is stored to be fetched',
    default: String(usualConfig.responseBytes),
  },
  pinning: {
    value: 'mode',
    help: 'What happens to new and changed tools: off, warn or quarantine. Default: in development warn, with --issuer quarantine',
    env: 'TOOLCRIB_PINNING',
  },
  'artifact-days': { value: 'days', help: 'How long cut parts of answers are kept', default: String(usualConfig.artifactDays) },
  'artifact-bytes': {
    value: 'bytes',
    help: 'How much is stored for each user, including answers of calls that are async or have a key; the oldest is deleted first',
    default: String(usualConfig.artifactBytes),
  },
  retention: {
    value: 'days',
    help: 'How long the record of calls and of refused requests is kept',
    default: String(usualConfig.retentionDays),
  },
  'audit-retention': {
    value: 'days',
    help: 'How long the record of changes is kept; at least 30 days',
    default: String(usualConfig.auditRetentionDays),
  },
  'mcp-door': {
    value: 'on|off',
    help: 'Serves MCP clients at /mcp, and at /mcp/{group} the tools of one group. Default: on in development, off with --issuer',
    env: 'TOOLCRIB_MCP_DOOR',
  },
  'login-bridge': {
    value: 'json|off',
    help: 'Lets MCP clients log in here, and signs people in with one of the issuers, as {"client_id": …, "client_secret_file": …}. Default: on in development, where you choose who to be; off with --issuer',
    env: 'TOOLCRIB_LOGIN_BRIDGE',
  },
  journal: {
    value: 'on|off',
    help: 'Records calls in a file of the data folder first, and brings them into the database a moment later. Default: on with the embedded database; off with --database, where a lost machine takes with it what is not in the database yet',
    env: 'TOOLCRIB_JOURNAL',
  },
  fsync: {
    help: 'Answers a call only when its record has reached the disk, so that it survives a power cut. Without it, a killed server loses nothing, and a power cut the last moments',
  },
  'metrics-token': {
    value: 'file',
    help: 'A file with the token that /metrics requires. Without it, /metrics is open in development, and with --issuer served only on --metrics-listen',
    envHelp: 'the file, or the token itself',
    env: 'TOOLCRIB_METRICS_TOKEN',
  },
  'metrics-listen': {
    value: 'host:port',
    help: 'Serves /metrics on a separate port, such as 127.0.0.1:9464. Without --metrics-token, anyone who reaches the port can read them',
    env: 'TOOLCRIB_METRICS_LISTEN',
  },
  'otlp-endpoint': {
    value: 'url',
    help: 'Sends traces to this collector, as OTLP over HTTP, such as http://127.0.0.1:4318. Without it there are no traces',
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
  },
  'log-level': {
    value: 'level',
    help: 'fatal, error, warn, info, debug, trace or silent; the log is JSON on standard error',
    env: 'TOOLCRIB_LOG_LEVEL',
    default: usualConfig.logLevel,
  },
} as const satisfies OptionTable;

export type PlaceOption = keyof typeof placeOptions;
export type ServeOption = keyof typeof serveOptions;
