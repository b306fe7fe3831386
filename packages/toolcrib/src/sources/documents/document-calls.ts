import { CribError } from '../../model/crib-error.ts';
import type { HttpOperation } from '../../model/http-operation.ts';
import type { Tool } from '../../model/tool.ts';
import type { CallSource } from '../open-source.ts';

/** Makes the calls of one source until the source's definition changes. */
export interface OpenedCalls {
  readonly call: CallSource;
  endSessionsOf?(owner: string): void;
  /** [ENV-1] Forgets all filled-in values, so that the next call uses the new ones. */
  secretsChanged?(): void;
  /** Aborts the calls in progress. */
  close(): Promise<void>;
}

interface DocumentCallsInput {
  sourceName: string;
  open(): Promise<OpenedCalls>;
  /** Whether the tools of the source's document are known. */
  isKnown(): boolean;
  /** [SEC-1] The origins that the source's secrets may be sent to. */
  origins(): ReadonlySet<string>;
  /** Reads the stored import again, which another server may have updated. */
  recall(): Promise<void>;
}

/** Calls the tools that a document describes. `open` is called with the first call. */
export function createDocumentCalls(input: DocumentCallsInput): OpenedCalls {
  let opened: OpenedCalls | undefined;
  let opening: Promise<OpenedCalls> | undefined;

  async function openOnce(): Promise<OpenedCalls> {
    opening ??= input.open();
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
    throw new CribError(
      'SERVICE_UNAVAILABLE',
      `The server of ${name} is not one of the origins of ${input.sourceName}: refresh the source`,
    );
  }

  return {
    async call(tool, args, context) {
      if (!input.isKnown()) throw new CribError('SERVICE_UNAVAILABLE', 'The source is not running');
      if (tool.operation !== null && !input.origins().has(originOf(tool.operation))) await lookAgain(tool, tool.operation);
      return (opened ?? (await openOnce())).call(tool, args, context);
    },
    endSessionsOf: (owner) => opened?.endSessionsOf?.(owner),
    secretsChanged: () => opened?.secretsChanged?.(),
    async close() {
      const closing = opening;
      opened = undefined;
      opening = undefined;
      await (await closing?.catch(() => undefined))?.close();
    },
  };
}

const originsOf = new WeakMap<HttpOperation, string>();

/** The origin of an operation's server, cached because every call needs it. */
function originOf(operation: HttpOperation): string {
  let origin = originsOf.get(operation);
  if (origin === undefined) {
    origin = URL.parse(operation.server)?.origin ?? '';
    originsOf.set(operation, origin);
  }
  return origin;
}
