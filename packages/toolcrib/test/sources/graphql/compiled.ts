import type { ImportReport } from '../../../src/model/import-report.ts';
import type { DiscoveredTool } from '../../../src/model/tool.ts';
import { createImportNotes } from '../../../src/sources/documents/import-notes.ts';
import type { GraphqlPlan } from '../../../src/sources/graphql/graphql-plan.ts';
import { compileSchema } from '../../../src/sources/graphql/schema/compile-schema.ts';
import { readSchema } from '../../../src/sources/graphql/schema/read-schema.ts';

export interface CompiledTool extends DiscoveredTool {
  plan: DiscoveredTool['plan'] & GraphqlPlan;
}

/** The tools of a schema, by their names, without a process of their own. */
export function compiled(text: string, limits = { depth: 2, fields: 50 }) {
  const tools: CompiledTool[] = [];
  const notes = createImportNotes();
  const give = (json: string) => tools.push(JSON.parse(json) as CompiledTool);
  const schema = readSchema(text);
  const report: Partial<ImportReport> = compileSchema({ schema, endpoint: 'https://api.example/graphql', limits, notes, give });
  const named = (name: string): CompiledTool => {
    const found = tools.find(({ definition }) => definition.name === name);
    if (found === undefined) throw new Error(`There is no tool ${name}, but ${tools.map(({ definition }) => definition.name).join(', ')}`);
    return found;
  };
  return { tools, named, report, skipped: notes.skipped, warnings: notes.warnings, table: schema.table };
}
