import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { callerAddress } from '../http/caller-address.ts';
import { RecentMap } from '../model/recent-map.ts';

/** What a client does on its way in, in this order. */
type DiscoveryStep = 'asked to log in' | 'read the metadata of an address' | 'token refused';

export type DiscoveryLog = (request: FastifyRequest, step: DiscoveryStep, details?: Readonly<Record<string, string>>) => void;

const quietMs = 60_000;
const mostRemembered = 2000;
const longestAgent = 200;

/**
 * [LOGIN-1] Shows an operator how far a client came. Anybody can take these steps, so each is a line at `info` once a minute for each address and
 * client, and at `debug` in between.
 */
export function createDiscoveryLog(logger: Logger, now: () => number = Date.now): DiscoveryLog {
  const said = new RecentMap<number>(mostRemembered);
  return (request, step, details = {}) => {
    const address = callerAddress(request);
    const agent = (request.headers['user-agent'] ?? '').slice(0, longestAgent);
    const key = `${step} ${address} ${agent}`;
    const before = said.get(key);
    const isNews = before === undefined || now() - before >= quietMs;
    if (isNews) said.set(key, now());
    logger[isNews ? 'info' : 'debug']({ request_id: request.id, address, agent, ...details }, `mcp login: ${step}`);
  };
}
