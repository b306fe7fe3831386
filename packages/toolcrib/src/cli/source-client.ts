import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { importedSourcesSchema, sourceListSchema, sourcePreviewSchema, sourceSchema } from '../api.ts';
import { CribError } from '../model/crib-error.ts';
import { readJson, type Client } from './client.ts';
import { parseAnswer } from './parse-answer.ts';

/** A server, and the administrator we speak to it for. */
export interface Administrator {
  client: Client;
  token: string;
}

const { id, name, namespace, enabled, status } = sourceSchema.shape;
const { tools, code, message, summary, last_words, retry_at } = status.shape;

// Looser than the contract: a newer server may say more than we know of, and --json shows it.
const shownSourceSchema = z.looseObject({
  id,
  name,
  namespace,
  enabled,
  source_type: z.string(),
  definition: z.looseObject({}).nullable(),
  status: z.looseObject({ state: z.string(), tools, code, message, summary, last_words, retry_at }),
  health: z.string(),
  breaker: z.string().default('closed'),
  server: z.looseObject({ name: z.string(), version: z.string(), protocol_version: z.string().optional() }).nullable(),
  waiting: z.number().catch(0),
  outdated_secrets: z.array(z.string()).catch([]),
});
export type ShownSource = z.infer<typeof shownSourceSchema>;

const { missing, error } = sourcePreviewSchema.shape;
const previewedToolSchema = z.looseObject({ name: z.string(), description: z.string() });
const shownPreviewSchema = z.looseObject({
  name,
  namespace,
  definition: z.looseObject({}),
  missing,
  tools: z.array(previewedToolSchema).nullable(),
  error,
});
export type ShownPreview = z.infer<typeof shownPreviewSchema>;

const { entry, outcome, notes } = importedSourcesSchema.shape.entries.element.shape;
const importedSchema = z.looseObject({
  entries: z.array(z.looseObject({ entry, outcome, notes, source: shownSourceSchema.nullable(), error })),
});
export type ShownImport = z.infer<typeof importedSchema>['entries'][number];

const listSchema = z.looseObject({ ...sourceListSchema.shape, sources: z.array(shownSourceSchema) });
const pollMs = 250;

export interface SourceClient {
  list(): Promise<z.infer<typeof listSchema>>;
  /** By namespace or id, as somebody typed it. */
  find(written: string): Promise<ShownSource>;
  register(body: unknown): Promise<ShownSource>;
  /** Whatever a file of another client describes; what is refused does not stop the others. */
  import(config: unknown, options: { name?: string | undefined; update: boolean }): Promise<ShownImport[]>;
  /** What a registration would come to; with `discover` the server is really started, which may take as long as above. */
  preview(body: unknown, options: { discover: boolean; signal?: AbortSignal }): Promise<ShownPreview>;
  /** As it is when it is neither starting nor restarting any more. */
  settled(id: string, signal: AbortSignal): Promise<ShownSource>;
  /** May take as long as a package takes to be fetched. */
  act(id: string, action: 'start' | 'stop' | 'restart' | 'refresh', signal: AbortSignal): Promise<ShownSource>;
  setEnabled(id: string, enabled: boolean, signal: AbortSignal): Promise<ShownSource>;
  remove(id: string): Promise<void>;
}

export function createSourceClient({ client, token }: Administrator): SourceClient {
  const shown = (answer: unknown) => parseAnswer(shownSourceSchema, answer, client.url);
  const get = async (id: string, signal?: AbortSignal) => shown(await client.json('GET', `/api/sources/${id}`, { token, signal }));

  return {
    list: async () => parseAnswer(listSchema, await client.json('GET', '/api/sources', { token }), client.url),
    async find(written) {
      const unknown = new CribError('NOT_FOUND', `There is no source ${JSON.stringify(written)}: \`toolcrib sources\` lists all`);
      // It becomes a part of an address, where dots and slashes would lead elsewhere.
      if (!/^[a-z0-9_-]{1,64}$/i.test(written)) throw unknown;
      try {
        return await get(written);
      } catch (error) {
        throw error instanceof CribError && error.code === 'NOT_FOUND' ? unknown : error;
      }
    },
    register: async (body) => shown(await client.json('POST', '/api/sources', { token, body })),
    async import(body, { name: manual, update }) {
      const query = { name: manual, update: String(update) };
      const asked = { token, body, query, silenceMs: 0 };
      return parseAnswer(importedSchema, await client.json('POST', '/api/sources/import', asked), client.url).entries;
    },
    async preview(body, { discover, signal }) {
      const asked = { token, body, query: { discover: String(discover) }, signal, silenceMs: 0 };
      return parseAnswer(shownPreviewSchema, await client.json('POST', '/api/sources/preview', asked), client.url);
    },
    async settled(id, signal) {
      for (;;) {
        const source = await get(id, signal);
        if (source.status.state !== 'starting' && source.status.state !== 'restarting') return source;
        await pause(pollMs, undefined, { signal });
      }
    },
    act: async (id, action, signal) => shown(await client.json('POST', `/api/sources/${id}/${action}`, { token, signal, silenceMs: 0 })),
    setEnabled: async (id, enabled, signal) =>
      shown(await client.json('PATCH', `/api/sources/${id}`, { token, body: { enabled }, signal, silenceMs: 0 })),
    async remove(id) {
      const response = await client.send('DELETE', `/api/sources/${id}`, { token });
      // A success has no body.
      if (response.status !== 204) await readJson(client.url, response);
    },
  };
}
