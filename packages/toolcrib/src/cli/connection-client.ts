import { setTimeout as pause } from 'node:timers/promises';
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

type Purpose = 'calls' | 'discovery';
const pollMs = 500;

export interface Begun {
  authorization_url: string;
  expires_at: number;
}

/** A user's connections, seen from the command line. */
export function createConnectionClient({ client, token }: Pick<Caller, 'client' | 'token'>) {
  const list = async (signal?: AbortSignal) =>
    parseAnswer(listSchema, await client.json('GET', '/api/connections', { token, signal }), client.url);
  /** What was there before it was begun. */
  let began: Pick<ShownConnection, 'source_id' | 'for' | 'connected_at'> | undefined;

  async function find(written: string, purpose: Purpose): Promise<ShownConnection> {
    // Where all share one connection there is no other that could be meant.
    const fits = ({ namespace, source_id, for: of }: ShownConnection) =>
      (namespace === written || source_id === written) && (of === purpose || of === 'everybody');
    const found = (await list()).connections.find(fits);
    if (found !== undefined) return found;
    const what = purpose === 'discovery' ? 'that wants a connection for discovery' : 'that wants a connection of yours';
    throw new CribError('NOT_FOUND', `There is no source ${JSON.stringify(written)} ${what}: \`toolcrib connect\` lists those there are`);
  }

  return {
    list: () => list(),
    async begin(written: string, purpose: Purpose, signal: AbortSignal): Promise<Begun> {
      const found = await find(written, purpose);
      began = found;
      return parseAnswer(begunSchema, await client.json('POST', found.connect_url, { token, signal }), client.url);
    },
    /** False where nobody has allowed it in time. */
    async finished({ expires_at }: Begun, signal: AbortSignal): Promise<boolean> {
      for (;;) {
        const { connections } = await list(signal);
        const now = connections.find((one) => one.source_id === began?.source_id && one.for === began.for);
        if (now?.connected === true && now.connected_at !== began?.connected_at) return true;
        if (Date.now() > expires_at) return false;
        await pause(pollMs, undefined, { signal });
      }
    },
    async end(written: string, purpose: Purpose): Promise<void> {
      const { connect_url: path } = await find(written, purpose);
      const response = await client.send('DELETE', path, { token });
      // There is nothing to read where it went well.
      if (response.status !== 204) await readJson(client.url, response);
    },
  };
}
