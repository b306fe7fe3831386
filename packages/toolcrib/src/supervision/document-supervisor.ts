import { placeInLine } from '../isolation/place-in-line.ts';
import { CribError } from '../model/crib-error.ts';
import type { DocumentSource, SourceStatus } from '../model/source.ts';
import { isAvailable } from './availability.ts';
import { createDocumentCalls, type OpenedCalls } from './document-calls.ts';
import { createDocumentDiscovery, type DocumentDiscoveryInput } from './document-discovery.ts';
import { createHealthRecord } from './health.ts';
import { createPersistence } from './persistence.ts';
import { createRefreshSchedule } from './refresh-schedule.ts';
import type { SourceSupervisor } from './source-supervisor.ts';
import { toCribError } from './to-crib-error.ts';

export interface DocumentSupervisorInput extends Omit<DocumentDiscoveryInput, 'onPlace'> {
  /** Loaded with the first call. */
  openCalls(source: DocumentSource): Promise<OpenedCalls>;
  /** How many of its tools are in the inventory. */
  countTools(): number;
  onStatus(status: SourceStatus): void;
}

/**
 * Keeps the tools of one document up to date. Its tools carry all that a call needs, so that those which are known go on while the document
 * cannot be had [INV-2].
 */
export function createDocumentSupervisor(input: DocumentSupervisorInput): SourceSupervisor {
  const { source, note } = input;
  const { resilience, refresh_interval_ms: intervalMs } = source.definition;
  const health = createHealthRecord();
  const discovery = createDocumentDiscovery({ ...input, onPlace });
  let status: SourceStatus = { state: 'stopped' };
  let stopping = new AbortController();
  let starting: Promise<void> | undefined;
  let halting: Promise<void> | undefined;
  let discovering: Promise<unknown> = Promise.resolve();
  const calls = createDocumentCalls({
    source,
    health,
    open: () => input.openCalls(source),
    isRunning: () => isAvailable(status) && discovery.isKnown,
    origins: () => discovery.origins,
    recall: () => discovery.recall(),
    stopped: () => stopping.signal,
  });
  const schedule = createRefreshSchedule({ intervalMs, refresh: refreshOnSchedule });
  const persistence = createPersistence({
    start: startOnce,
    isOver: () => !isWanting(status),
    restart: resilience.restart,
    elsewhere: true,
    onPause(retryAt) {
      if (isWanting(status)) setStatus({ ...status, retry_at: retryAt.toISOString() });
    },
  });

  function setStatus(next: SourceStatus): void {
    status = next;
    input.onStatus(next);
  }

  function onPlace(place: number): void {
    const message = place === 0 ? 'Its document is being read' : placeInLine(place);
    if (status.state === 'starting') setStatus({ state: 'starting', message });
    else note(message);
  }

  /** One after another: a document that was fetched earlier must not be written over one that came later. */
  function discover(signal: AbortSignal): Promise<void> {
    const next = discovering.then(async () => {
      signal.throwIfAborted();
      await discovery.discover(signal);
      signal.throwIfAborted();
      setStatus({ state: 'running', tools: input.countTools() });
    });
    discovering = next.catch(() => undefined);
    return next;
  }

  /** Rejects with why the document could not be had, also where its tools go on. */
  async function startNow(quietly: boolean): Promise<void> {
    if (stopping.signal.aborted || !isAvailable(status)) stopping = new AbortController();
    const { signal } = stopping;
    if (halting !== undefined) await halting;
    try {
      signal.throwIfAborted();
      // Trying again changes nothing for those that go on meanwhile.
      if (!quietly && !isAvailable(status)) setStatus({ state: 'starting' });
      schedule.start();
      await discovery.recall();
      await discover(signal);
    } catch (error) {
      if (signal.aborted) throw new CribError('CONFLICT', 'The source was stopped while it started', { cause: error });
      const failure = toCribError(error);
      const { code, message } = failure;
      const tools = discovery.isKnown ? input.countTools() : 0;
      const wanting = `The last known tools go on. ${message}`;
      if (tools > 0) {
        if (status.state !== 'running' || status.message !== wanting) note(wanting);
        setStatus({ state: 'running', tools, message: wanting });
      } else if (!quietly || status.state !== 'error' || status.message !== message) {
        note(`Failed: ${message}`);
        setStatus({ state: 'error', code, message });
      }
      throw failure;
    }
  }

  function startOnce(quietly: boolean): Promise<void> {
    if (starting !== undefined && !stopping.signal.aborted) return starting;
    const started = startNow(quietly).finally(() => {
      if (starting === started) starting = undefined;
    });
    starting = started;
    return started;
  }

  async function start(): Promise<void> {
    try {
      await startOnce(false);
    } catch (error) {
      if (isWanting(status)) persistence.goOn(error);
      if (status.state !== 'running') throw error;
    }
  }

  async function refreshOnSchedule(): Promise<void> {
    if (status.state !== 'running') return;
    const { signal } = stopping;
    await discover(signal).catch((error: unknown) => {
      if (!signal.aborted) note(`The document could not be had again, so the last known tools stay: ${toCribError(error).message}`);
    });
  }

  async function haltNow(reason: CribError): Promise<void> {
    persistence.end(reason);
    stopping.abort(reason);
    await Promise.all([starting?.catch(() => undefined), schedule.stop(), discovering, calls.close()]);
  }

  return {
    get status() {
      return status;
    },
    get health() {
      return health.health;
    },
    get info() {
      return discovery.info;
    },
    get imported() {
      return discovery.imported;
    },
    start,
    stop(state) {
      const halted = haltNow(new CribError('SERVICE_UNAVAILABLE', 'The source is being stopped'))
        .then(() => setStatus({ state }))
        .finally(() => {
          if (halting === halted) halting = undefined;
        });
      halting = halted;
      return halted;
    },
    async refresh() {
      if (!isAvailable(status)) throw new CribError('CONFLICT', 'The source is not running: start it first');
      await discover(stopping.signal);
    },
    call: calls.call,
    sessions: { lasting: 0, standby: 0, call: 0, user: 0 },
    async reconnect() {
      // One that has begun may have looked before there was anything to see.
      await starting?.catch(() => undefined);
      await start();
    },
    // Nothing runs, and the next request has the new value.
    async secretsChanged() {
      calls.secretsChanged();
      return 'unaffected';
    },
    outdatedSecrets: [],
    async endSessionsOf(owner) {
      calls.endSessionsOf(owner);
    },
  };
}

/** Whether there is something to try again for. */
function isWanting(status: SourceStatus): status is Extract<SourceStatus, { state: 'error' | 'running' }> {
  return status.state === 'error' || (status.state === 'running' && status.message !== undefined);
}
