import { placeInLine } from '../../isolation/place-in-line.ts';
import { isPerUser } from '../../model/credential.ts';
import { toCribError } from '../../model/to-crib-error.ts';
import type { OpenSource, SourceHost } from '../open-source.ts';
import { createDocumentCalls, type OpenedCalls } from './document-calls.ts';
import { createDocumentDiscovery, type DocumentDiscoveryInput } from './document-discovery.ts';

interface DocumentSourceInput extends Omit<DocumentDiscoveryInput, 'onDiscovered' | 'onPlace' | 'note'> {
  host: SourceHost;
  /** Called with the first call. */
  openCalls(): Promise<OpenedCalls>;
  hasHealth: boolean;
}

/**
 * One source whose tools a document describes. A tool carries all that a call needs, so the known tools keep working while the document
 * cannot be fetched [INV-2].
 */
export function createDocumentSource(input: DocumentSourceInput): OpenSource {
  const { source, host } = input;
  let discovering: Promise<unknown> = Promise.resolve();
  /** The last failure in the log, which is not repeated there. */
  let logged: string | undefined;
  const discovery = createDocumentDiscovery({
    ...input,
    onDiscovered: (tools, info) => host.discovered(tools, info),
    onPlace: (place) => host.waiting(place === 0 ? 'Its document is being read' : placeInLine(place)),
    note: (message) => host.note(message),
  });
  const calls = createDocumentCalls({
    sourceName: source.name,
    open: input.openCalls,
    isKnown: () => discovery.isKnown,
    origins: () => discovery.origins,
    recall: () => discovery.recall(),
  });

  /** Runs one discovery at a time, so that an older document never overwrites a newer one. */
  function discover(signal: AbortSignal): Promise<void> {
    const next = discovering.then(async () => {
      signal.throwIfAborted();
      await discovery.discover(signal);
      signal.throwIfAborted();
      logged = undefined;
      host.ready(host.countTools());
    });
    discovering = next.catch(() => undefined);
    return next;
  }

  return {
    elsewhere: true,
    servesWhileStarting: true,
    hasHealth: input.hasHealth,
    perUser: isPerUser(source.definition.credential),
    reachable: true,
    get info() {
      return discovery.info;
    },
    get imported() {
      return discovery.imported;
    },
    async start(signal) {
      await discovery.recall();
      try {
        await discover(signal);
        return undefined;
      } catch (error) {
        const tools = discovery.isKnown ? host.countTools() : 0;
        if (signal.aborted || tools === 0) throw error;
        const failure = toCribError(error);
        const missing = `The last known tools stay available. ${failure.message}`;
        if (logged !== missing) host.note(missing);
        logged = missing;
        host.ready(tools, missing);
        return failure;
      }
    },
    refresh: discover,
    call: calls.call,
    // No process has to be restarted: the next request uses the new value.
    async secretsChanged() {
      calls.secretsChanged?.();
      return 'unaffected';
    },
    endSessionsOf: async (owner) => calls.endSessionsOf?.(owner),
    async close() {
      await Promise.all([discovering, calls.close()]);
    },
  };
}
