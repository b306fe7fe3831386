import { CribError } from '../../../model/crib-error.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { PollProfile } from '../../../model/poll-profile.ts';
import type { ImportReport } from '../../../model/import-report.ts';
import { compileOperation, type CompileContext } from './compile-operation.ts';
import type { ImportNotes } from './import-notes.ts';
import { cut, objectAt, own, textAt, wordAt } from './node.ts';
import type { OpenDocument } from './open-document.ts';
import { findOperations, labelOf } from './operations.ts';
import { createSchemaTranslator } from './schema-translator.ts';
import { createSecurity, schemeNamed } from './security.ts';
import { createServers } from './servers.ts';
import { suggestedCredential } from './suggested-credential.ts';
import { toolNames } from './tool-names.ts';
import { createToolTally, warnOfPolls } from './tool-tally.ts';
import { Unusable } from './unusable.ts';

export interface CompileInput {
  document: OpenDocument;
  url: URL | null;
  serverUrl: string | null;
  serverVariables: Record<string, string>;
  asyncPoll: Record<string, PollProfile>;
  notes: ImportNotes;
  /** Takes a tool as the JSON that it is, so that nothing is kept twice. */
  give(json: string): void;
  /** Of all schemas together. */
  mostValues?: number;
}

export interface CompiledDocument {
  title: string;
  version: string;
  report: Omit<ImportReport, 'skipped' | 'warnings' | 'bytes' | 'external_refs'>;
}

/** [OAS-1] All operations of a document as tools. */
export function compileDocument(input: CompileInput): CompiledDocument {
  const { document, url, serverUrl, serverVariables, asyncPoll, notes, give, mostValues } = input;
  const info = objectAt(own(document.root, 'info'));
  const version = cut(wordAt(own(info, 'version')) ?? '', 200);
  const { operations, skipped } = findOperations(document);
  if (operations.length + skipped.length === 0) sayWhyNone(document.root, notes.warn);
  const names = toolNames(operations);
  const { warn } = notes;
  const context: CompileContext = {
    document,
    inputs: createSchemaTranslator({ document, direction: 'request', warn }),
    outputs: createSchemaTranslator({ document, direction: 'answer', warn: () => undefined }),
    server: createServers({ document, url, serverUrl, variables: serverVariables }),
    security: createSecurity(
      document,
      operations.map(({ operation }) => operation),
    ),
    warn,
    version,
  };
  for (const entry of skipped) notes.skip(entry);

  const tally = createToolTally({
    give,
    mostValues,
    suggest: (requirement) => suggestedCredential(requirement, schemeNamed(document, requirement.scheme) ?? {}, url),
  });
  for (const [index, found] of operations.entries()) {
    const name = names[index] ?? '';
    const operation = labelOf(found);
    notes.begin(operation);
    try {
      tally.check(name);
      tally.add(compileOperation(found, name, Object.hasOwn(asyncPoll, name) ? (asyncPoll[name] ?? null) : null, context));
    } catch (error) {
      notes.skip({ operation, reason: reasonOf(error) });
    }
  }
  notes.begin();
  warnOfPolls(asyncPoll, tally, warn);
  return {
    title: cut(textAt(own(info, 'title'))?.trim() ?? '', 200),
    version,
    report: { format: document.version, operations: operations.length + skipped.length, ...tally.report() },
  };
}

/** A source without tools is of no use to anybody, and should not look like one. */
function sayWhyNone(root: JsonObject, warn: (message: string) => void): void {
  const webhooks = Object.keys(objectAt(own(root, 'webhooks'))).length;
  if (webhooks > 0) {
    const what = 'The document describes webhooks only: requests that the service sends to others. Nothing in it can be called';
    throw new CribError('VALIDATION_ERROR', what);
  }
  warn('The document describes no operations, so that it gives no tools');
}

export function reasonOf(error: unknown): string {
  if (error instanceof Unusable) return error.message;
  if (error instanceof RangeError) return 'Its schemas refer to each other in a chain that is too long';
  throw error;
}
