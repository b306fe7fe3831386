import type { JsonObject } from '../../../model/json.ts';
import type { DiscoveredTool } from '../../../model/tool.ts';
import type { GraphqlPlan } from '../graphql-plan.ts';
import { argumentSchema } from './argument-schema.ts';
import { cut } from '../../documents/node.ts';
import { defaultSelection, type SelectionLimits } from './default-selection.ts';
import type { InputSchemas } from './input-schemas.ts';
import { isComposite, isName, namedType, type SchemaField, type TypeTable } from './type-table.ts';
import { Unusable } from '../../documents/unusable.ts';

export interface FieldContext {
  table: TypeTable;
  inputs: InputSchemas;
  endpoint: string;
  limits: SelectionLimits;
  warn(message: string): void;
}

export interface RootField {
  operation: GraphqlPlan['operation'];
  field: SchemaField;
}

const longestDescription = 4000;
const longestShown = 300;

/** Turns a query or mutation into a tool. Throws `Unusable` if that is not possible. */
export function compileField({ operation, field }: RootField, name: string, context: FieldContext): DiscoveredTool {
  const { table, inputs, endpoint, limits, warn } = context;
  if (!isName(field.name)) throw new Unusable('Its name is not a valid GraphQL name');
  const returned = namedType(field.type);
  const type = table.types.get(returned);
  if (type === undefined) throw new Unusable(`It returns ${JSON.stringify(cut(returned, 100))}, and the schema has no such type`);
  const selection = defaultSelection(table, returned, limits);
  const selectDescription = isComposite(type) ? describedSelection(returned, selection) : null;
  const { schema, planned, select } = argumentSchema({ args: field.args, inputs, selectDescription, warn });
  const plan: GraphqlPlan = {
    operation,
    field: field.name,
    endpoint,
    arguments: planned,
    selection,
    type: isComposite(type) ? returned : null,
    select,
  };
  return {
    definition: { name, description: descriptionOf(field, operation), input_schema: schema, annotations: annotationsOf(operation) },
    tags: [operation],
    execution_mode: 'sync_http',
    plan: plan as unknown as JsonObject,
  };
}

function describedSelection(type: string, selection: string): string {
  return `The fields of ${type} to return, as a GraphQL selection. Default: ${cut(selection, longestShown)}`;
}

function descriptionOf({ name, description, deprecated, type }: SchemaField, operation: GraphqlPlan['operation']): string {
  const parts = [
    deprecated === null ? '' : `Deprecated. ${deprecated.trim()}`.trim(),
    description.trim() === '' ? `The ${operation} ${name}, which returns ${type}` : description.trim(),
  ];
  return cut(parts.filter((part) => part !== '').join('\n\n'), longestDescription);
}

/** GraphQL says that queries change nothing (§6.2.1). It says nothing about the effects of mutations. */
function annotationsOf(operation: GraphqlPlan['operation']): JsonObject {
  return operation === 'query' ? { readOnlyHint: true, openWorldHint: true } : { readOnlyHint: false, openWorldHint: true };
}
