import { usualConfig } from '../http/server-config.ts';
import { publicRegistries } from '../sources/mcp/registry/registry-lookup.ts';
import type { OptionTable } from './option-table.ts';

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
    help: 'Accepts the tokens of this issuer, written as in their `iss` claim. The variable holds addresses with spaces between them, or a JSON list of issuer configurations',
    env: 'TOOLCRIB_ISSUERS',
  },
  audience: {
    value: 'name',
    help: 'The audience that the `aud` claim of a token must name',
    env: 'TOOLCRIB_AUDIENCE',
    default: 'toolcrib-gateway',
  },
  'admin-claim': {
    value: 'path=value',
    help: 'The claim that makes an administrator: at this path it is, or contains, this value. A path is dotted, or a JSON Pointer where names contain dots. Each of several issuers has its own: admin_claim',
    env: 'TOOLCRIB_ADMIN_CLAIM',
    default: `${adminMatcher.path}=${adminMatcher.value}`,
  },
  'run-claim': {
    value: 'path=value',
    help: 'The claim that lets an administrator register programs to start on this machine, written like --admin-claim. In development all of them may. With several issuers: run_claim',
    env: 'TOOLCRIB_RUN_CLAIM',
    default: `${runMatcher.path}=${runMatcher.value}`,
  },
  'allow-insecure-issuer': { help: 'Allows issuers at plain http on other machines' },
  'allow-network': {
    value: 'network',
    many: true,
    help: 'Lets sources be at this address that is not public: a range such as 10.0.0.0/8, an address, a host name, *.example.org, loopback or private. Without it: in development loopback, and private with a warning; with --issuer none. The variable holds several with commas between them',
    env: 'TOOLCRIB_ALLOWED_NETWORKS',
  },
  proxy: {
    value: 'url',
    help: 'Connects through this proxy: http://user:password@host:3128, where a password belongs into the variable. `env` takes HTTPS_PROXY or HTTP_PROXY, and NO_PROXY',
    env: 'TOOLCRIB_PROXY',
  },
  'no-proxy': {
    value: 'host',
    many: true,
    help: 'Connects to this host, and to all below its name, without the proxy. The variable holds several with commas between them',
    env: 'TOOLCRIB_NO_PROXY',
  },
  'ca-file': { value: 'file', help: 'Trusts the certificates in this PEM file beside the usual ones', env: 'TOOLCRIB_CA_FILE' },
  'docker-host': {
    value: 'address',
    help: 'Where Docker is, for sources in containers: unix:///var/run/docker.sock where it is not given',
    env: 'DOCKER_HOST',
  },
  'run-rules': {
    value: 'file',
    help: 'A YAML file of the programs that may be started on this machine. Without it: in development everything except shells, inline code and packages from URLs, with --issuer nothing',
    env: 'TOOLCRIB_RUN_RULES',
  },
} as const satisfies OptionTable;

/** [SEC-3] */
export const keysOption = {
  keys: {
    value: 'file',
    help: 'The keys that seal secrets, the newest first: `kid:base64` or JSON. The variable may hold the keys themselves. Without it, keys.json in the data folder',
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
    help: 'Where browsers reach the server, for users who come back from an authorization server; the address it listens on where it is not given',
    env: 'TOOLCRIB_PUBLIC_URL',
  },
  'allowed-host': {
    value: 'host',
    many: true,
    help: 'Also answers under this Host header: a name, or name:port. The variable holds several with commas between them',
    env: 'TOOLCRIB_ALLOWED_HOSTS',
  },
  'allowed-origin': {
    value: 'origin',
    many: true,
    help: 'Lets pages of this origin use the API. The variable holds several with commas between them',
    env: 'TOOLCRIB_ALLOWED_ORIGINS',
  },
  'trusted-proxy': {
    value: 'address',
    many: true,
    help: 'Believes the X-Forwarded-For of a proxy at this address, or in this range: 10.0.0.5, 10.0.0.0/24. The record then has the address of the caller. The variable holds several with commas between them',
    env: 'TOOLCRIB_TRUSTED_PROXIES',
  },
  'allow-env': {
    value: 'name',
    many: true,
    help: 'Lets sources read this environment variable of the server as ${NAME}. The variable holds several with commas between them',
    env: 'TOOLCRIB_ALLOWED_ENV',
  },
  'allow-mount': {
    value: 'folder',
    many: true,
    help: 'Lets containers mount this folder of the machine, and what is in it. The variable holds several with commas between them',
    env: 'TOOLCRIB_ALLOWED_MOUNTS',
  },
  registry: {
    value: 'url',
    help: 'The MCP registry in which `toolcrib add registry:…` looks servers up, of the API version 0.1; `off` asks none. A token for it is the secret registry.official',
    env: 'TOOLCRIB_REGISTRY',
    default: publicRegistries.official,
  },
  'smithery-registry': {
    value: 'url',
    help: 'The same for `smithery:…`. A token for it is the secret registry.smithery',
    env: 'TOOLCRIB_SMITHERY_REGISTRY',
    default: publicRegistries.smithery,
  },
  'no-demo': { help: 'In development: brings no demo server along, and no policy that lets everybody use every tool' },
  embeddings: { help: 'Finds tools by meaning, too: needs the package @toolcrib/embeddings beside this one' },
  'body-limit': { value: 'bytes', help: 'The largest request body', default: String(usualConfig.bodyLimitBytes) },
  'principal-rate': {
    value: 'number',
    help: 'Calls per second for each user; 0 sets no limit',
    default: String(principalLimits.rate_per_second),
  },
  'principal-burst': {
    value: 'number',
    help: 'Calls of one user that may come at once before the rate applies',
    default: String(principalLimits.burst),
  },
  'principal-concurrency': {
    value: 'number',
    help: 'Calls of one user that may run at once; 0 sets no limit',
    default: String(principalLimits.concurrency),
  },
  'request-rate': {
    value: 'number',
    help: 'Searches, registrations, previews and begun connections per second for each user; 0 sets no limit',
    default: String(requestLimits.rate_per_second),
  },
  'request-burst': {
    value: 'number',
    help: 'How many of them may come at once before the rate applies',
    default: String(requestLimits.burst),
  },
  timeout: { value: 'ms', help: 'Default timeout of a call', default: String(usualConfig.defaultTimeoutMs) },
  'max-timeout': { value: 'ms', help: 'The longest time a caller may ask for', default: String(usualConfig.maxTimeoutMs) },
  drain: { value: 'ms', help: 'Grace period for running calls when the server stops', default: String(usualConfig.drainMs) },
  'response-bytes': {
    value: 'bytes',
    help: 'The largest answer that is given whole; a larger one is cut, and kept to be fetched',
    default: String(usualConfig.responseBytes),
  },
  pinning: {
    value: 'mode',
    help: 'Default for new and changed tools: off, warn or quarantine. Without it: in development warn, with --issuer quarantine',
    env: 'TOOLCRIB_PINNING',
  },
  'artifact-days': { value: 'days', help: 'How long cut parts of answers are kept', default: String(usualConfig.artifactDays) },
  'artifact-bytes': {
    value: 'bytes',
    help: 'How much is kept for each user, with the answers of calls that are async or have a key; the oldest makes room for the newest',
    default: String(usualConfig.artifactBytes),
  },
  retention: {
    value: 'days',
    help: 'How long the record of calls and of refused requests is kept',
    default: String(usualConfig.retentionDays),
  },
  'audit-retention': {
    value: 'days',
    help: 'How long the record of changes is kept, 30 days at least',
    default: String(usualConfig.auditRetentionDays),
  },
  'metrics-token': {
    value: 'file',
    help: 'The token that /metrics asks for, in a file. The variable may hold the token itself. Without it, /metrics is open in development; with --issuer it is only served on --metrics-listen',
    env: 'TOOLCRIB_METRICS_TOKEN',
  },
  'metrics-listen': {
    value: 'host:port',
    help: 'Serves /metrics on a port of its own: 127.0.0.1:9464. Without --metrics-token, whoever reaches it can read it',
    env: 'TOOLCRIB_METRICS_LISTEN',
  },
  'otlp-endpoint': {
    value: 'url',
    help: 'Sends traces to this collector, as OTLP over HTTP: http://127.0.0.1:4318. No traces are made where it is not given',
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
