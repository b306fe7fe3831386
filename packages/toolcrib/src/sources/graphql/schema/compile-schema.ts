import type { ImportReport } from '../../../model/import-report.ts';
import type { ImportNotes } from '../../documents/import-notes.ts';
import { createToolBudget } from '../../documents/tool-budget.ts';
import { Unusable } from '../../documents/unusable.ts';
import { compileField, type RootField } from './compile-field.ts';
import type { SelectionLimits } from './default-selection.ts';
import { createInputSchemas } from './input-schemas.ts';
import type { ReadSchema } from './read-schema.ts';
import { toolNames } from './tool-names.ts';
import type { SchemaField, TypeTable } from './type-table.ts';

export interface CompileInput {
  schema: ReadSchema;
  endpoint: string;
  limits: SelectionLimits;
  notes: ImportNotes;
  /** Receives each tool as JSON text, so that no tool is kept in memory twice. */
  give(json: string): void;
}

type CompiledReport = Omit<ImportReport, 'skipped' | 'warnings' | 'bytes'>;

/** Turns all queries and mutations of a schema into tools. */
export function compileSchema({ schema: { table, format }, endpoint, limits, notes, give }: CompileInput): CompiledReport {
  const { warn } = notes;
  const inputs = createInputSchemas(table, warn);
  const fields: RootField[] = [
    ...fieldsOf(table, table.query).map((field): RootField => ({ operation: 'query', field })),
    ...fieldsOf(table, table.mutation).map((field): RootField => ({ operation: 'mutation', field })),
  ];
  const subscriptions = fieldsOf(table, table.subscription);
  if (fields.length === 0) warn('The schema has neither queries nor mutations, so there are no tools');
  for (const { name } of subscriptions)
    notes.skip({ operation: `subscription ${name}`, reason: 'A subscription is a stream, but a call has one result' });

  const budget = createToolBudget({ give });
  const names = toolNames(fields);
  for (const [index, root] of fields.entries()) {
    const name = names[index] ?? '';
    const operation = `${root.operation} ${root.field.name.slice(0, 200)}`;
    notes.begin(operation);
    try {
      budget.check(name);
      budget.add(compileField(root, name, { table, inputs, endpoint, limits, warn }));
    } catch (error) {
      notes.skip({ operation, reason: reasonOf(error) });
    }
  }
  notes.begin();
  return {
    format: `GraphQL ${format}`,
    operations: fields.length + subscriptions.length,
    ...budget.report(),
    servers: [endpoint],
    security: [],
    external_refs: [],
  };
}

function fieldsOf({ types }: TypeTable, root: string | null): SchemaField[] {
  const type = root === null ? undefined : types.get(root);
  return type?.kind === 'object' ? [...type.fields.values()] : [];
}

function reasonOf(error: unknown): string {
  if (error instanceof Unusable) return error.message;
  if (error instanceof RangeError) return 'Its types are nested too deeply';
  throw error;
}
