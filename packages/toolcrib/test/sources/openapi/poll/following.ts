import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { createJournal } from '../../../../src/durable/journal.ts';
import { createSteps } from '../../../../src/durable/create-steps.ts';
import type { Steps } from '../../../../src/durable/steps.ts';
import type { CribError } from '../../../../src/model/crib-error.ts';
import type { HttpOperation } from '../../../../src/model/http-operation.ts';
import type { Json, JsonObject } from '../../../../src/model/json.ts';
import { pollProfileSchema } from '../../../../src/model/poll-profile.ts';
import { createJobs } from '../../../../src/store/jobs.ts';
import { openSqlite } from '../../../../src/store/open-sqlite.ts';
import { startHttpServer } from '../../../fixtures/http-server.ts';
import { temporaryDirectory } from '../../../running-server.ts';
import { httpOperation, httpParameter } from '../http-operation.ts';
import { openOpenApiCaller } from '../openapi-caller.ts';

/** One answer of the service: none where it is `'cut'` or `'silent'`. */
export type Scripted = 'cut' | 'silent' | { status?: number; headers?: Record<string, string>; body?: Json };

interface Seen {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
}

export const keyParameter = httpParameter('Idempotency-Key', 'header');

/** A service that gives these answers one after the other, whatever it is asked. `{origin}` in a header is its own. */
export async function startScripted(script: Scripted[]) {
  const seen: Seen[] = [];
  const server = await startHttpServer((request, response) => {
    void readText(request).then(() => {
      const scripted = script[seen.length] ?? { status: 500 };
      seen.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers });
      if (scripted === 'silent') return;
      if (scripted === 'cut') return void request.socket.destroy();
      const headers = Object.entries(scripted.headers ?? {}).map(([name, value]) => [name, value.replace('{origin}', server.origin)]);
      response.writeHead(scripted.status ?? 200, { 'content-type': 'application/json', ...Object.fromEntries(headers) });
      response.end(scripted.body === undefined ? '' : JSON.stringify(scripted.body));
    });
  });
  return { ...server, seen };
}

export function operationAt(origin: string, parts: Partial<HttpOperation> = {}): HttpOperation {
  return httpOperation({ method: 'POST', path: '/orders', server: `${origin}/shop`, ...parts });
}

/** The journal of one call, which can be run again as after a crash. */
export async function openJournal() {
  const directory = await temporaryDirectory();
  const database = await openSqlite(join(directory.path, 'journal.db'));
  const jobs = createJobs(database.kysely);
  const job = { id: randomUUID(), input: '' };
  const leaving = new AbortController();
  const stepsOver = (records: Parameters<typeof createSteps>[0]['records']) =>
    createSteps({
      records,
      seal: (text) => text,
      open: (text) => text,
      leaving: leaving.signal,
      onLeft() {},
      isLeft: () => false,
    });
  return {
    run: <Result>(work: (steps: Steps) => Promise<Result>) =>
      createJournal({ jobs, warn() {} }).run(job, (records) => work(stepsOver(records))),
    runAgain: <Result>(work: (steps: Steps) => Promise<Result>) =>
      new Promise<Result>((resolve, reject) => {
        void createJournal({ jobs, warn() {} }).recover((_job, records) => work(stepsOver(records)).then(resolve, reject));
      }),
    async [Symbol.asyncDispose]() {
      await database.close();
      await directory[Symbol.asyncDispose]();
    },
  };
}

/** Calls of a service that wants a token. */
export const openCaller = (requestTimeoutMs = 5000) =>
  openOpenApiCaller({
    definition: { credential: { type: 'bearer', token: { value: 'the-token' } }, resilience: { requestTimeoutMs } },
  });

export const quick = (profile: JsonObject = {}) => pollProfileSchema.parse({ interval_ms: 10, max_interval_ms: 20, ...profile });

interface Following {
  profile?: JsonObject;
  args?: JsonObject;
  operation?: Partial<HttpOperation>;
  requestTimeoutMs?: number;
}

/** A whole call against a service with this script. */
export async function following(script: Scripted[], { profile = {}, args = {}, operation: parts = {}, requestTimeoutMs }: Following = {}) {
  await using service = await startScripted(script);
  await using journal = await openJournal();
  await using caller = await openCaller(requestTimeoutMs);
  const operation = operationAt(service.origin, { poll: quick(profile), ...parts });
  const progress: string[] = [];
  const result = await journal
    .run((steps) => caller.call(operation, args, { context: { steps, progress: ({ message = '' }) => void progress.push(message) } }))
    .then(
      (output) => ({ output }),
      (error: unknown) => ({ error: error as CribError }),
    );
  return { output: undefined, error: undefined, ...result, progress, seen: service.seen, asked: service.seen.map(({ path }) => path) };
}
