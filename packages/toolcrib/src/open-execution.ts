import type { CribConfig } from './crib-config.ts';
import { openDurable } from './durable/open-durable.ts';
import type { Acceptance } from './execution/acceptance.ts';
import { createAnswerKeeper } from './execution/answer-keeper.ts';
import { createArgumentValidator, createOutputValidator } from './validation/tool-validators.ts';
import { createDurableCalls } from './execution/durable-calls.ts';
import { createExecutor, type ExecutorInput } from './execution/executor.ts';
import { createKeptArtifacts } from './execution/kept-artifacts.ts';
import { createKeptCalls } from './execution/kept-calls.ts';
import { recordLostCalls } from './execution/lost-calls.ts';
import { createOwnCalls } from './execution/own-calls.ts';
import { createRecorder } from './execution/recorder.ts';
import { sealEarlier } from './execution/seal-earlier.ts';
import { createShaper } from './execution/shaper.ts';
import { createStepCalls } from './execution/step-calls.ts';
import type { openStorage } from './open-storage.ts';
import type { openUpstream } from './open-upstream.ts';
import { isRejectedValue, storageTrouble } from './store/storage-trouble.ts';
import type { Settling } from './supervision/settling.ts';
import { counted } from './text/counted.ts';

interface ExecutionInput extends Pick<ExecutorInput, 'inventory' | 'sourceOf' | 'tracer'> {
  storage: Pick<Awaited<ReturnType<typeof openStorage>>, 'database' | 'server' | 'keyRing' | 'store' | 'journal'>;
  acceptance: Acceptance;
  settling: Settling;
  upstream: Pick<ReturnType<typeof openUpstream>, 'logs' | 'redactors'>;
}

/** How long resumed calls wait for sources that are starting. */
const sourcesReadyMs = 60_000;

/** The single path that every call takes, and everything that is stored about calls. */
export async function openExecution(config: CribConfig, input: ExecutionInput, opened: AsyncDisposableStack) {
  const { acceptance, inventory, settling } = input;
  const { logs, redactors } = input.upstream;
  const { database, server, keyRing, store, journal } = input.storage;
  const { warn, limits, responseBytes, observer } = config;
  const { bytesPerPrincipal } = config.artifacts;
  const trouble = { acceptance, troubleOf: storageTrouble };
  const recorder = createRecorder({
    ...trouble,
    append: journal === undefined ? store.calls.append : (records) => journal.append(records),
    // Appending to a file costs little: nobody waits for company.
    ...(journal && { mostTurns: 1 }),
    isRejected: isRejectedValue,
    warn,
    observer,
  });
  await sealEarlier(store, keyRing);
  const artifacts = createKeptArtifacts({ store, keyRing, bytesPerPrincipal, warn });
  const durable = opened.adopt(openDurable(database, warn), (jobs) => jobs.close());
  const answerKeeper = createAnswerKeeper({ store, keyRing, bytesPerPrincipal, warn });
  const durableCalls = createDurableCalls({ durable, keyRing, store, answerKeeper, warn });
  const validator = opened.adopt(
    createArgumentValidator({
      timeLimitMs: config.checkMs,
      onUnusable: ({ name, source_id }, reason) =>
        logs.of(source_id).append('event', `Nobody can call ${name}: its input schema ${reason}`),
    }),
    (checking) => checking.close(),
  );
  const executor = createExecutor({
    ...input,
    async sourcesReady() {
      await Promise.all([...inventory.sources.keys()].map((id) => settling.settled(id, sourcesReadyMs)));
    },
    durableCalls,
    validator,
    shape: createShaper({ artifacts, outputs: createOutputValidator(), responseBytes, observer }),
    recorder,
    notes: {
      ...trouble,
      server,
      async write(begun, ended) {
        await store.inFlight.add(begun);
        await store.inFlight.remove(ended);
      },
    },
    limits,
    observer,
    onFault: (error, callId) =>
      warn(redactors.redact(`Call ${callId}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)),
  });
  const keptCalls = createKeptCalls({ store, executor, answerKeeper, keyRing });

  /** Ends the calls of killed servers. With SQLite no other server can be running them. */
  async function abandonLost(): Promise<void> {
    await recordLostCalls({ store, endedBefore: Date.now() });
    const deadline = database.dialect === 'sqlite' ? {} : { deadlineBefore: Date.now() };
    await keptCalls.abandon({ except: await durable.unfinished(), ...deadline });
  }
  // Before the kept answers: the notes of running calls say more.
  const lost = await recordLostCalls({ store, server, endedBefore: Date.now() });
  if (lost > 0) warn(`A server was killed while it ran ${counted(lost, 'call')}. Their status is recorded as unknown`);
  await abandonLost();
  return {
    executor,
    recorder,
    validator,
    artifacts,
    keptCalls,
    ownCalls: createOwnCalls({ executor, keptCalls, store }),
    callStep: createStepCalls({ executor, keptCalls, store, durableCalls, acceptance }),
    abandonLost,
    recover: () => durableCalls.recover(executor.goOn, keptCalls.giveUp),
  };
}
