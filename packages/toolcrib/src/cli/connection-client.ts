import { z } from 'zod';
import { begunConnectionSchema, connectionListSchema, connectionSchema } from '../api.ts';
import { CribError } from '../model/crib-error.ts';
import type { Caller } from './caller.ts';
import { readJson } from './client.ts';
import { parseAnswer } from './parse-answer.ts';

// Looser than the contract: a newer server may say more than we know of, and --json shows it.
const shownSchema = z.looseObject({ ...connectionSchema.shape, for: z.string() });
const listSchema = z.looseObject({ ...connectionListSchema.shape, connections: z.array(shownSchema) });
const begunSchema = z.looseObject(begunConnectionSchema.shape);
export type ShownConnection = z.infer<typeof shownSchema>;

export type Purpose = 'calls' | 'discovery';

export interface Begun {
  authorization_url: string;
  expires_at: number;
  redeem_url: string;
}

export type ConnectionClient = ReturnType<typeof createConnectionClient>;

/** A user's connections, seen from the command line. */
export function createConnectionClient({ client, token }: Pick<Caller, 'client' | 'token'>) {
  const list = async () => parseAnswer(listSchema, await client.json('GET', '/api/connections', { token }), client.url);
  async function find(written: string, purpose: Purpose): Promise<ShownConnection> {
    // If all users share one connection, that is the one.
    const fits = ({ namespace, source_id, for: of }: ShownConnection) =>
      (namespace === written || source_id === written) && (of === purpose || of === 'everybody');
    const found = (await list()).connections.find(fits);
    if (found !== undefined) return found;
    const what = purpose === 'discovery' ? 'that needs a connection for discovery' : 'that needs your own connection';
    throw new CribError('NOT_FOUND', `There is no source ${JSON.stringify(written)} ${what}: \`toolcrib connect\` lists them`);
  }

  return {
    list,
    /** `loopbackPort` is where a browser on this machine can bring the code. */
    async begin(written: string, purpose: Purpose, loopbackPort: number, signal: AbortSignal): Promise<Begun> {
      const { connect_url: path } = await find(written, purpose);
      const query = { loopback_port: String(loopbackPort) };
      return parseAnswer(begunSchema, await client.json('POST', path, { token, query, signal }), client.url);
    },
    async redeem(path: string, code: string, signal: AbortSignal): Promise<void> {
      await client.json('POST', path, { token, body: { code }, signal });
    },
    /** Where a connection that was started before is finished. */
    async redeemUrl(written: string, purpose: Purpose): Promise<string> {
      const { source_id, connect_url } = await find(written, purpose);
      return `/api/connections/${source_id}/redeem${URL.parse(connect_url, client.url)?.search ?? ''}`;
    },
    async end(written: string, purpose: Purpose): Promise<void> {
      const { connect_url: path } = await find(written, purpose);
      const response = await client.send('DELETE', path, { token });
      // A success has no body.
      if (response.status !== 204) await readJson(client.url, response);
    },
  };
}
