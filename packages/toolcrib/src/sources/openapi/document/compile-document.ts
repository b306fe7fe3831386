import { CribError } from '../../../model/crib-error.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { PollProfile } from '../../../model/poll-profile.ts';
import type { ImportReport } from '../../../model/import-report.ts';
import { compileOperation, type CompileContext } from './compile-operation.ts';
import { compileTools } from './compile-tools.ts';
import type { ImportNotes } from '../../documents/import-notes.ts';
import { cut, objectAt, own, textAt, wordAt } from '../../documents/node.ts';
import type { OpenDocument } from './open-document.ts';
import { findOperations, labelOf } from './operations.ts';
import { createSchemaTranslator } from './schema-translator.ts';
import { createSecurity, schemeNamed } from './security.ts';
import { createServers } from './servers.ts';
import { suggestedCredential } from './suggested-credential.ts';
import { toolNames } from './tool-names.ts';
import { createToolTally } from './tool-tally.ts';

export interface CompileInput {
  document: OpenDocument;
  url: URL | null;
  serverUrl: string | null;
  serverVariables: Record<string, string>;
  asyncPoll: Record<string, PollProfile>;
  notes: ImportNotes;
  /** Receives a tool as JSON text, so that nothing is kept twice. */
  give(json: string): void;
  /** The limit for all schemas together. */
  mostValues?: number;
}

export interface CompiledDocument {
  title: string;
  version: string;
  report: Omit<ImportReport, 'skipped' | 'warnings' | 'bytes' | 'external_refs'>;
}

/** [OAS-1] Compiles all operations of a document into tools. */
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
  const found = operations.map((operation, index) => {
    const name = names[index] ?? '';
    return { name, operation: labelOf(operation), compile: (poll: PollProfile | null) => compileOperation(operation, name, poll, context) };
  });
  compileTools(found, { asyncPoll, tally, notes });
  return {
    title: cut(textAt(own(info, 'title'))?.trim() ?? '', 200),
    version,
    report: { format: document.version, operations: operations.length + skipped.length, ...tally.report() },
  };
}

/** A source without tools is useless, and the report should say why it has none. */
function sayWhyNone(root: JsonObject, warn: (message: string) => void): void {
  const webhooks = Object.keys(objectAt(own(root, 'webhooks'))).length;
  if (webhooks > 0) {
    const what = 'The document describes only webhooks, which are requests that the service sends. It has no operations to call';
    throw new CribError('VALIDATION_ERROR', what);
  }
  warn('The document describes no operations, so it has no tools');
}
