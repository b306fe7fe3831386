import { compileDocument, type CompileInput } from '../../../../src/sources/openapi/document/compile-document.ts';
import { createImportNotes } from '../../../../src/sources/documents/import-notes.ts';
import { openDocument } from '../../../../src/sources/openapi/document/open-document.ts';
import type { Json, JsonObject } from '../../../../src/model/json.ts';
import type { DiscoveredTool } from '../../../../src/model/tool.ts';

type Settings = Partial<Pick<CompileInput, 'url' | 'serverUrl' | 'serverVariables' | 'asyncPoll' | 'mostValues'>>;

/** The result of importing a document, without the separate process. */
export function compiled(value: JsonObject, settings: Settings = {}) {
  const tools: DiscoveredTool[] = [];
  const notes = createImportNotes();
  const { report, ...rest } = compileDocument({
    document: openDocument(value),
    url: new URL('https://docs.example/v1/openapi.json'),
    serverUrl: null,
    serverVariables: {},
    asyncPoll: {},
    ...settings,
    notes,
    give: (json) => tools.push(JSON.parse(json) as DiscoveredTool),
  });
  notes.close();
  return { ...rest, tools, report: { ...report, skipped: notes.skipped, warnings: notes.warnings } };
}

export type Compiled = ReturnType<typeof compiled>;

/** A document with one operation, `POST /things` by default. */
export function documentOf(operation: JsonObject, more: JsonObject = {}, [method, path] = ['post', '/things']): JsonObject {
  return {
    openapi: '3.0.3',
    info: { title: 'Things', version: '1' },
    servers: [{ url: 'https://api.example' }],
    paths: { [path]: { [method]: { operationId: 'one', ...operation } } },
    ...more,
  };
}

/** Makes a document one of Swagger 2.0. */
export const swagger2 = { openapi: undefined as never, swagger: '2.0', servers: undefined as never, host: 'api.example' };

/** The only tool of a document. */
export function onlyTool({ tools, report }: Compiled): DiscoveredTool {
  const [tool] = tools;
  if (tool === undefined || tools.length > 1) throw new Error(`There are ${tools.length} tools: ${JSON.stringify(report.skipped)}`);
  return tool;
}

export function operationOf(tool: DiscoveredTool) {
  if (tool.operation === undefined) throw new Error(`${tool.definition.name} has no operation`);
  return tool.operation;
}

/** The schema of one argument. */
export function argumentOf(tool: DiscoveredTool, name: string): Json | undefined {
  return (tool.definition.input_schema['properties'] as JsonObject)[name];
}
