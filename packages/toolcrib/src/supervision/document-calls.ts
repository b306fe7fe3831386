import { isPerUser } from '../model/credential.ts';
import { CribError } from '../model/crib-error.ts';
import type { HttpOperation } from '../model/http-operation.ts';
import { originOfFailure } from '../model/origin.ts';
import type { DocumentSource } from '../model/source.ts';
import type { Tool } from '../model/tool.ts';
import type { HealthRecord } from './health.ts';
import type { CallSource } from './source-calls.ts';

/** What makes the calls of one source, for as long as its definition stays what it is. */
export interface OpenedCalls {
  call: CallSource;
  endSessionsOf(owner: string): void;
  /** [ENV-1] Nothing that was filled in before is used for the next call. */
  secretsChanged(): void;
  /** Cuts what is under way. */
  close(): Promise<void>;
}

interface DocumentCallsInput {
  source: DocumentSource;
  health: HealthRecord;
  open(): Promise<OpenedCalls>;
  isRunning(): boolean;
  /** [SEC-1] Where the secrets of the source may go. */
  origins(): ReadonlySet<string>;
  /** Looks up what another server may have found. */
  recall(): Promise<void>;
  /** Fires when the source is stopped; another one after each start. */
  stopped(): AbortSignal;
}

/** Calls of the tools that a document describes, and what they say about the health of the service. */
export function createDocumentCalls(input: DocumentCallsInput): OpenedCalls {
  const { source, health, open, isRunning, stopped: stoppedNow } = input;
  let opened: OpenedCalls | undefined;
  let opening: Promise<OpenedCalls> | undefined;
  const isOwn = isPerUser(source.definition.credential);

  async function openOnce(): Promise<OpenedCalls> {
    opening ??= open();
    const mine = opening;
    try {
      const found = await mine;
      if (opening === mine) opened = found;
      return found;
    } catch (error) {
      if (opening === mine) opening = undefined;
      throw error;
    }
  }

  async function lookAgain({ name }: Tool, operation: HttpOperation): Promise<void> {
    await input.recall();
    if (input.origins().has(originOf(operation))) return;
    throw new CribError('SERVICE_UNAVAILABLE', `${name} is at a place that ${source.name} did not name at first: refresh the source`);
  }

  function callFailed(error: CribError): void {
    const { code, upstreamStatus: status } = error;
    // [ID-5] What one user may not do says nothing about the source, and must not hurt the others.
    if (isOwn && (code === 'UNAUTHENTICATED' || code === 'FORBIDDEN')) error.origin = 'caller';
    const origin = originOfFailure(error);
    // A workflow is as healthy as whom it calls, and they have a health of their own.
    if (source.source_type === 'workflow' || origin === 'caller' || origin === 'gateway') return;
    const isRefusedForWho = status === 401 || status === 403;
    // Whoever says that it was asked for the wrong thing is well.
    if (status !== undefined && status < 500 && !isRefusedForWho) return health.succeeded();
    health.failed(error);
  }

  return {
    async call(tool, args, context) {
      if (!isRunning()) throw new CribError('SERVICE_UNAVAILABLE', 'The source is not running');
      if (tool.operation !== null && !input.origins().has(originOf(tool.operation))) await lookAgain(tool, tool.operation);
      const stopped = stoppedNow();
      try {
        const output = await (opened ?? (await openOnce())).call(tool, args, context);
        health.succeeded();
        return output;
      } catch (error) {
        // A caller who went away says nothing about the server, and neither does our own stop.
        if (context.ending.aborted) throw error;
        if (stopped.aborted) throw stopped.reason;
        if (error instanceof CribError) callFailed(error);
        throw error;
      }
    },
    endSessionsOf: (owner) => opened?.endSessionsOf(owner),
    secretsChanged: () => opened?.secretsChanged(),
    async close() {
      const closing = opening;
      opened = undefined;
      opening = undefined;
      await (await closing?.catch(() => undefined))?.close();
    },
  };
}

const originsOf = new WeakMap<HttpOperation, string>();

/** Found out once for each operation, since every call asks. */
function originOf(operation: HttpOperation): string {
  let origin = originsOf.get(operation);
  if (origin === undefined) {
    origin = URL.parse(operation.server)?.origin ?? '';
    originsOf.set(operation, origin);
  }
  return origin;
}
