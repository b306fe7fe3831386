import { AsyncLocalStorage } from 'node:async_hooks';
import { DBOS, DBOSWorkflowConflictError } from '@dbos-inc/dbos-sdk';
import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import { CribError } from '../../model/crib-error.ts';
import { mostResumes, type Job, type StepRecords } from '../durable.ts';
import { JobLeftError } from '../job-left-error.ts';
import { engineSchema } from './engine-schema.ts';
import { within } from './within.ts';

/** The same for all versions: what a job holds says itself which version it is. */
const applicationVersion = '1';
const poolSize = 5;
const lookForEndMs = 200;
const keepEndedMs = 3_600_000;
/** For how long the end of a job is looked for. Another server that has taken it over may have forgotten it already. */
const lookForEndSeconds = 60;

export interface Engine {
  begin<Result>(job: Job, work: (records: StepRecords) => Promise<Result>): Promise<Result>;
  /** Takes over what these have left, one of several who try. Whatever one of them is at, should it live, will not be noted any more. */
  takeOver(executorIds: string[]): Promise<void>;
  close(): Promise<void>;
}

interface EngineInput {
  url: string;
  executorId: string;
  resume(job: Job, records: StepRecords): Promise<void>;
  /** How long closing may take, whatever the database does. */
  closeWithinMs: number;
  /** Runs something as if it were begun by nobody: a job begun within a step of another is no part of it. */
  outside: <Result>(work: () => Result) => Result;
  warn(message: string): void;
}

let isTaken = false;

/** DBOS, which there is one of in a process. It writes to the database only, and serves nothing. */
export async function launchEngine({ url, executorId, resume, closeWithinMs, outside, warn }: EngineInput): Promise<Engine> {
  if (isTaken) {
    throw new CribError(
      'SERVICE_UNAVAILABLE',
      'Another Toolcrib in this process runs lasting calls already: give each a process of its own',
    );
  }
  const begun = new Map<string, (records: StepRecords) => Promise<unknown>>();
  const forgetting = new Set<Promise<void>>();

  /** Only what has ended well is noted, and thereby over. Everything else waits here, unnoted, for another run. */
  async function perform(input: string): Promise<void> {
    const id = DBOS.workflowID ?? '';
    const records = recordsWithin(AsyncLocalStorage.snapshot());
    const work = begun.get(id) ?? ((steps: StepRecords) => resume({ id, input }, steps));
    begun.delete(id);
    try {
      await outside(() => work(records));
    } catch {
      await never;
    }
    const forgotten = outside(() => forget(id)).finally(() => forgetting.delete(forgotten));
    forgetting.add(forgotten);
  }

  async function forget(id: string): Promise<void> {
    try {
      const result = await DBOS.getResult(id, { pollingIntervalMs: lookForEndMs, timeoutSeconds: lookForEndSeconds });
      if (result !== null) await DBOS.deleteWorkflow(id);
    } catch (error) {
      // What is left over is swept away by a later launch.
      warn(`The end of call ${id} could not be noted: ${String(error)}`);
    }
  }

  DBOS.setConfig({
    name: 'toolcrib',
    systemDatabaseUrl: url,
    systemDatabaseSchemaName: engineSchema,
    systemDatabasePoolSize: poolSize,
    executorID: executorId,
    applicationVersion,
    enableOTLP: false,
    tracingEnabled: false,
    useListenNotify: false,
    // It would be asked for at every new connection, in a way that its driver warns about.
    systemDatabaseIdleTransactionTimeoutMs: 0,
    // What it says otherwise is about its own affairs: that it starts and stops, or that a job was taken over.
    logger: { debug() {}, info() {}, warn() {}, error: (entry) => warn(`DBOS: ${String(entry)}`) },
  });
  const workflow = DBOS.registerWorkflow(perform, { name: 'call', maxRecoveryAttempts: mostResumes });
  isTaken = true;
  try {
    await DBOS.launch();
    await sweep();
  } catch (error) {
    await close();
    throw error;
  }

  return {
    begin(job, work) {
      const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof work>>>();
      begun.set(job.id, async (records) => {
        try {
          resolve(await work(records));
        } catch (error) {
          reject(error);
          throw error;
        }
      });
      outside(() => DBOS.startWorkflow(workflow, { workflowID: job.id })(job.input)).catch((error: unknown) => {
        begun.delete(job.id);
        reject(error);
      });
      return promise;
    },
    async takeOver(executorIds) {
      await outside(() => DBOSExecutor.globalInstance?.recoverPendingWorkflows(executorIds));
    },
    async close() {
      // What is not forgotten by then is swept away by a later launch.
      await within(closeWithinMs, Promise.all(forgetting));
      await within(closeWithinMs, close());
    },
  };
}

async function close(): Promise<void> {
  await DBOS.shutdown({ deregister: true });
  isTaken = false;
}

const never = new Promise<never>(() => {});

/** Work that fails is not noted either: DBOS would take that for its outcome. */
function recordsWithin(inside: <Result>(work: () => Result) => Result): StepRecords {
  return {
    once: (name, work) =>
      new Promise((resolve, reject) => {
        const step = async () => {
          try {
            return await work();
          } catch (error) {
            reject(error);
            return never;
          }
        };
        inside(() => DBOS.runStep(step, { name })).then(resolve, (error: unknown) =>
          reject(error instanceof DBOSWorkflowConflictError ? new JobLeftError() : (error as Error)),
        );
      }),
  };
}

/** What ended when nobody was left to forget it. */
async function sweep(): Promise<void> {
  const ended = await DBOS.listWorkflows({
    status: ['SUCCESS', 'ERROR', 'CANCELLED', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED'],
    endTime: new Date(Date.now() - keepEndedMs).toISOString(),
    loadInput: false,
    loadOutput: false,
  });
  if (ended.length > 0) await DBOS.deleteWorkflows(ended.map(({ workflowID }) => workflowID));
}
