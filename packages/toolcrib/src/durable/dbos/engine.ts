import { AsyncLocalStorage } from 'node:async_hooks';
import { DBOS, DBOSWorkflowConflictError } from '@dbos-inc/dbos-sdk';
import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import { CribError } from '../../model/crib-error.ts';
import { mostResumes, type Job, type StepRecords } from '../durable.ts';
import { JobLeftError } from '../job-left-error.ts';
import { engineSchema } from './engine-schema.ts';
import { within } from './within.ts';

/** The same for all versions: jobs carry their own version. */
const applicationVersion = '1';
const poolSize = 5;
const lookForEndMs = 200;
const keepEndedMs = 3_600_000;
/** How long to wait for the end of a job. Another server that took it over may have deleted it already. */
const lookForEndSeconds = 60;

export interface Engine {
  begin<Result>(job: Job, work: (records: StepRecords) => Promise<Result>): Promise<Result>;
  /** Takes over the jobs of these servers, unless another server is faster. Should one of them be alive, its further steps fail. */
  takeOver(executorIds: string[]): Promise<void>;
  close(): Promise<void>;
}

interface EngineInput {
  url: string;
  executorId: string;
  resume(job: Job, records: StepRecords): Promise<void>;
  /** How long closing may take, even if the database hangs. */
  closeWithinMs: number;
  /** Runs work outside the current async context: a job begun within a step of another job must not become part of it. */
  outside: <Result>(work: () => Result) => Result;
  warn(message: string): void;
}

let isTaken = false;

/** Launches DBOS, which exists once per process. It opens no ports. */
export async function launchEngine({ url, executorId, resume, closeWithinMs, outside, warn }: EngineInput): Promise<Engine> {
  if (isTaken) {
    throw new CribError(
      'SERVICE_UNAVAILABLE',
      'Another Toolcrib in this process already runs durable calls: start each one in its own process',
    );
  }
  const begun = new Map<string, (records: StepRecords) => Promise<unknown>>();
  const forgetting = new Set<Promise<void>>();

  /** Only jobs that succeed are marked as done. A failed job stays pending for another run. */
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
      // A later launch deletes the job.
      warn(`The end of call ${id} could not be recorded: ${String(error)}`);
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
    // Otherwise DBOS sets it on every new connection, in a way that makes its driver print warnings.
    systemDatabaseIdleTransactionTimeoutMs: 0,
    // The other messages of DBOS are only about itself: starting, stopping, taking over a job.
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
      // A later launch deletes jobs that are not deleted in time.
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

/** A step that fails never ends for DBOS, which would else store the failure as the outcome. */
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

/** Deletes jobs that ended while no server was left to delete them. */
async function sweep(): Promise<void> {
  const ended = await DBOS.listWorkflows({
    status: ['SUCCESS', 'ERROR', 'CANCELLED', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED'],
    endTime: new Date(Date.now() - keepEndedMs).toISOString(),
    loadInput: false,
    loadOutput: false,
  });
  if (ended.length > 0) await DBOS.deleteWorkflows(ended.map(({ workflowID }) => workflowID));
}
