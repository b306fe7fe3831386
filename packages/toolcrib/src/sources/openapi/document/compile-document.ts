import type { Json } from '../../../model/json.ts';
import type { PollProfile } from '../../../model/poll-profile.ts';
import type { DiscoveredTool } from '../../../model/tool.ts';
import type { ImportReport } from '../../../model/import-report.ts';
import { boundsOf } from './document-bounds.ts';
import { compileOperation, type CompileContext } from './compile-operation.ts';
import type { ImportNotes } from './import-notes.ts';
import { cut, objectAt, own, textAt, wordAt } from './node.ts';
import type { OpenDocument } from './open-document.ts';
import { findOperations, labelOf, type FoundOperation } from './operations.ts';
import { createSchemaTranslator } from './schema-translator.ts';
import { createSecurity, schemeNamed } from './security.ts';
import { createServers } from './servers.ts';
import { suggestedCredential } from './suggested-credential.ts';
import { toolNames } from './tool-names.ts';
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

const mostTools = 20_000;
// What the gateway holds in memory for as long as the source is there. Small values take the most memory for their length.
const mostText = 64 * 1024 * 1024;
const usualMostValues = 2_000_000;
/** Above this, a list of all tools leaves a model too little room for its work. */
const manyTokens = 20_000;

/** [OAS-1] All operations of a document as tools. */
export function compileDocument(input: CompileInput): CompiledDocument {
  const { document, url, serverUrl, serverVariables, asyncPoll, notes, give, mostValues = usualMostValues } = input;
  const info = objectAt(own(document.root, 'info'));
  const version = cut(wordAt(own(info, 'version')) ?? '', 200);
  const { operations, skipped } = findOperations(document);
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

  const taken = new Set<string>();
  const servers = new Set<string>();
  const schemes = new Map<string, ImportReport['security'][number]>();
  let characters = 0;
  let values = 0;
  let listed = 0;

  function compile(found: FoundOperation, name: string): void {
    if (taken.size >= mostTools) throw new Unusable(`A source has at most ${mostTools} tools`);
    if (taken.has(name.toLowerCase())) throw new Unusable('It stands twice in the document');
    const tool = compileOperation(found, name, Object.hasOwn(asyncPoll, name) ? (asyncPoll[name] ?? null) : null, context);
    const json = JSON.stringify(tool);
    const { nodes } = boundsOf(tool as unknown as Json, Number.POSITIVE_INFINITY, false);
    if (characters + json.length > mostText) throw new Unusable(`The tools of a source take at most ${mostText / 1024 / 1024} MiB`);
    if (values + nodes > mostValues) throw new Unusable(`The tools of a source have at most ${mostValues} values in their schemas`);
    characters += json.length;
    values += nodes;
    listed += name.length + tool.definition.description.length + JSON.stringify(tool.definition.input_schema).length;
    taken.add(name.toLowerCase());
    count(tool);
    give(json);
  }

  function count({ operation }: DiscoveredTool): void {
    if (operation === undefined) return;
    servers.add(operation.server);
    const wanted = new Map(operation.security.flat().map((requirement) => [requirement.scheme, requirement]));
    for (const requirement of wanted.values()) {
      const { scheme, type, in: place, name } = requirement;
      const known = schemes.get(scheme);
      if (known !== undefined) known.operations++;
      else {
        const credential = suggestedCredential(requirement, schemeNamed(document, scheme) ?? {}, url);
        schemes.set(scheme, { scheme, type, in: place, name, operations: 1, credential });
      }
    }
  }

  for (const [index, found] of operations.entries()) {
    notes.begin(found);
    try {
      compile(found, names[index] ?? '');
    } catch (error) {
      notes.skip({ operation: labelOf(found), reason: reasonOf(error) });
    }
  }
  notes.begin();
  for (const name of Object.keys(asyncPoll)) {
    if (!taken.has(name.toLowerCase())) warn(`async_poll names ${cut(name, 200)}, and there is no tool of that name`);
  }
  const tokens = Math.ceil(listed / 4);
  return {
    title: cut(textAt(own(info, 'title'))?.trim() ?? '', 200),
    version,
    report: {
      format: document.version,
      operations: operations.length + skipped.length,
      tools: taken.size,
      tokens,
      advice: tokens > manyTokens ? adviceFor(taken.size, tokens) : null,
      servers: [...servers],
      security: [...schemes.values()],
    },
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof Unusable) return error.message;
  if (error instanceof RangeError) return 'Its schemas refer to each other in a chain that is too long';
  throw error;
}

function adviceFor(tools: number, tokens: number): string {
  return `A list of all ${tools} tools is about ${tokens} tokens long. Choose some of them with tools.include (by name, tags, paths or methods), or give agents search_tools and call_tool in place of the list.`;
}
