import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { CribError } from '../../model/crib-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Certificates = Pick<RequestOptions, 'ca' | 'cert' | 'key'>;

/** Where the Docker Engine listens, ready for Node's HTTP client. */
export interface EngineAddress {
  /** As a person writes it. */
  text: string;
  secure: boolean;
  connect: Pick<RequestOptions, 'socketPath' | 'host' | 'port'> & Certificates;
}

const usualHost = process.platform === 'win32' ? 'npipe:////./pipe/docker_engine' : 'unix:///var/run/docker.sock';

/** Finds the engine as the docker command does: `DOCKER_HOST`, else the chosen context, else the default socket. */
export function readEngineAddress(host: string | undefined, environment: Environment): EngineAddress {
  if (host !== undefined && host !== '') {
    const { DOCKER_TLS_VERIFY: verify = '', DOCKER_CERT_PATH: folder = '' } = environment;
    return addressOf(host, verify === '' && folder === '' ? undefined : folder || configFolder(environment));
  }
  const context = readContext(environment);
  return context === undefined ? addressOf(usualHost, undefined) : addressOf(context.host, context.certificates);
}

function addressOf(text: string, certificates: string | undefined): EngineAddress {
  const local = /^(?:unix|npipe):\/\/(.+)$/.exec(text)?.[1];
  if (local !== undefined) return { text, secure: false, connect: { socketPath: local } };
  const remote = /^(?:tcp|http|https):\/\/.+$/.test(text) ? URL.parse(text.replace(/^tcp:/, 'http:')) : null;
  if (remote === null) {
    throw new CribError(
      'VALIDATION_ERROR',
      `Docker cannot be reached at ${text}: use unix:///path, npipe:////./pipe/name or tcp://host:port in DOCKER_HOST`,
      { field: 'DOCKER_HOST' },
    );
  }
  const secure = certificates !== undefined || remote.protocol === 'https:';
  const port = remote.port === '' ? (secure ? 2376 : 2375) : Number(remote.port);
  return { text, secure, connect: { host: remote.hostname, port, ...(certificates === undefined ? {} : readCertificates(certificates)) } };
}

const configSchema = z.object({ currentContext: z.string().optional() });
const contextSchema = z.object({ Endpoints: z.object({ docker: z.object({ Host: z.string().min(1) }) }) });

/** Rootless Docker and Docker Desktop listen elsewhere, which the docker command knows as contexts. */
function readContext(environment: Environment): { host: string; certificates: string | undefined } | undefined {
  const folder = configFolder(environment);
  const config = join(folder, 'config.json');
  try {
    const chosen =
      environment['DOCKER_CONTEXT'] ||
      (existsSync(config) ? configSchema.parse(JSON.parse(readFileSync(config, 'utf8'))).currentContext : '');
    if (chosen === undefined || chosen === '' || chosen === 'default') return undefined;
    const key = createHash('sha256').update(chosen).digest('hex');
    const { Endpoints } = contextSchema.parse(JSON.parse(readFileSync(join(folder, 'contexts', 'meta', key, 'meta.json'), 'utf8')));
    const tls = join(folder, 'contexts', 'tls', key, 'docker');
    return { host: Endpoints.docker.Host, certificates: existsSync(tls) ? tls : undefined };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CribError('VALIDATION_ERROR', `The chosen Docker context cannot be read from ${folder}; set DOCKER_HOST instead: ${reason}`, {
      field: 'DOCKER_HOST',
      cause,
    });
  }
}

export function configFolder(environment: Environment): string {
  return environment['DOCKER_CONFIG'] || join(environment['HOME'] || homedir(), '.docker');
}

function readCertificates(folder: string): Certificates {
  const read = (name: string) => readFileSync(join(folder, name));
  try {
    return { ca: read('ca.pem'), cert: read('cert.pem'), key: read('key.pem') };
  } catch (cause) {
    throw new CribError('VALIDATION_ERROR', `The certificates for Docker cannot be read: ${(cause as Error).message}`, {
      field: 'DOCKER_CERT_PATH',
      cause,
    });
  }
}
