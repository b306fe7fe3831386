import { Ajv2020 } from 'ajv/dist/2020.js';
import { getVariableValues, Kind, parse, validate, type OperationDefinitionNode } from 'graphql';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { chosenSelection } from '../../../src/sources/graphql/call/chosen-selection.ts';
import { operationBody } from '../../../src/sources/graphql/call/operation-body.ts';
import { selectableTypes } from '../../../src/sources/graphql/schema/selectable-types.ts';
import { schemaInstance } from '../../fixtures/openapi/schema-instance.ts';
import { seededRandom } from '../../fixtures/openapi/seeded-random.ts';
import { compiled } from './compiled.ts';
import { builtSchema, readRealSchema, realSchemas } from './real-schemas.ts';

describe.each(Object.entries(realSchemas))('the schema of %s', (_name, real) => {
  const text = readRealSchema(real);
  const built = builtSchema(text);
  const { tools, skipped, warnings, report, table } = compiled(text);

  test('gives a tool for every query and mutation, and leaves out only subscriptions', () => {
    const count = (operation: string) => tools.filter(({ plan }) => plan.operation === operation).length;
    const fieldsOf = (type: { getFields(): object } | null | undefined) => Object.keys(type?.getFields() ?? {}).length;
    expect([count('query'), count('mutation')]).toEqual([fieldsOf(built.getQueryType()), fieldsOf(built.getMutationType())]);
    expect(count('query')).toBeGreaterThanOrEqual(real.queries);
    expect(count('mutation')).toBeGreaterThanOrEqual(real.mutations);
    expect(skipped.filter(({ operation }) => !operation.startsWith('subscription '))).toEqual([]);
    expect(warnings).toEqual([]);
    expect(report.operations).toBe(tools.length + skipped.length);
  });

  test('every input schema is one, and every document with arguments made from it is accepted by the reference implementation', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const { definition, plan } of tools) {
      const { input_schema: schema } = definition;
      const fits = ajv.compile(schema);
      for (let seed = 0; seed < 3; seed++) {
        const options = { random: seededRandom(seed), free: seed > 0, alphabets: { top: 'any', inside: 'any' } } as const;
        const made = schemaInstance(schema, schema, options) as JsonObject;
        expect({ tool: definition.name, errors: fits(made) ? [] : fits.errors }).toEqual({ tool: definition.name, errors: [] });
        const { query, variables } = JSON.parse(operationBody(plan, made, plan.selection)) as { query: string; variables: JsonObject };
        const document = parse(query);
        expect({ query, errors: validate(built, document) }).toEqual({ query, errors: [] });
        const [operation] = document.definitions as OperationDefinitionNode[];
        expect(operation?.kind).toBe(Kind.OPERATION_DEFINITION);
        const { errors } = getVariableValues(built, operation?.variableDefinitions ?? [], variables);
        expect({ tool: definition.name, variables, errors }).toEqual({ tool: definition.name, variables, errors: undefined });
      }
    }
  });

  test('the default selection could have been chosen by a caller too', () => {
    const types = selectableTypes(table) ?? {};
    for (const { plan } of tools) {
      if (plan.type === null) continue;
      const chosen = chosenSelection(plan.selection, { argument: '_select', type: plan.type, types });
      expect(chosen.replaceAll(/\s+/g, ' ')).toBe(plan.selection);
    }
  });
});
