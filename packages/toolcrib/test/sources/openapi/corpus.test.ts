import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { createArgumentValidator } from '../../../src/validation/tool-validators.ts';
import { corpus, corpusPath } from '../../fixtures/openapi/corpus.ts';
import { countOperations } from '../../fixtures/openapi/count-operations.ts';
import { importedTools } from '../../fixtures/openapi/imported-tools.ts';
import { missingFromTool } from '../../fixtures/openapi/missing-from-tool.ts';
import { part } from '../../parts.ts';

const folder = part('corpus');
const largeOnes = folder.available ? folder.url : '';

describe.for(corpus)('$file', ({ file, large, operations, skips }) => {
  let imported: Awaited<ReturnType<typeof importedTools>>;
  const skipped = large === true && !folder.available;
  beforeAll(async () => {
    if (!skipped) imported = await importedTools(corpusPath(file, largeOnes), 'corpus');
  });

  test.skipIf(skipped)('[OAS-1] every operation is a tool, except for the known ones', () => {
    expect(imported.report).toMatchObject({ operations, tools: operations - skips.length });
    expect(imported.report.skipped).toEqual(skips);
    expect(imported.tools).toHaveLength(operations - skips.length);
  });

  test.skipIf(skipped)('[OAS-1] [OAS-2] no tool is hollow: each has the parameters and body of its document', () => {
    const counted = countOperations(corpusPath(file, largeOnes));
    expect(counted.length).toBe(operations);
    const toolOf = new Map(imported.tools.map((tool) => [`${tool.method} ${tool.path}`, tool]));
    const faults = counted
      .filter(({ operation }) => !skips.some((skip) => skip.operation === operation))
      .flatMap((one) => {
        const tool = toolOf.get(one.operation);
        return tool === undefined ? [`${one.operation} is no tool`] : missingFromTool(one, tool);
      });
    expect(faults).toEqual([]);
  });

  test.skipIf(skipped)('[OAS-3] every input schema compiles, is self-contained and can be serialised', async () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
    const validator = createArgumentValidator();
    const failures: string[] = [];
    for (const tool of imported.tools) {
      try {
        const written: unknown = JSON.parse(JSON.stringify(tool.definition.input_schema));
        ajv.compile(written as object);
        await validator.check(tool, { 'no such argument': 1 }, 'alice');
        failures.push(`${tool.name} takes arguments that it does not have`);
      } catch (error) {
        if ((error as { code?: string }).code !== 'VALIDATION_ERROR') failures.push(`${tool.name}: ${(error as Error).message}`);
      }
    }
    await validator.close();
    expect(failures).toEqual([]);
  });

  test.skipIf(skipped)('[NAME-3] every name is legal, and unique ignoring case', () => {
    const names = imported.tools.map((tool) => tool.model_name);
    expect(names.filter((name) => !/^[A-Za-z0-9_-]{1,64}$/.test(name))).toEqual([]);
    expect(imported.tools.filter((tool) => !/^[A-Za-z0-9_.-]{1,128}$/.test(tool.definition.name))).toEqual([]);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
  });

  test.skipIf(skipped)('[OAS-1] the same document always gives the same tools', async () => {
    const again = await importedTools(corpusPath(file, largeOnes), 'corpus');
    expect(JSON.stringify(again.tools) === JSON.stringify(imported.tools)).toBe(true);
    expect(again.report).toEqual(imported.report);
  });
});

test('[OAS-1] operations described in forbidden other documents are left out, with the reason', async () => {
  const path = corpusPath('oai-petstore-separate-2.0/spec/swagger.json', largeOnes);
  const { tools, report } = await importedTools(path, 'corpus', { external_refs: [] });
  expect(tools.map(({ method, path: template }) => `${method} ${template}`)).toEqual(['GET /pets/{id}', 'DELETE /pets/{id}']);
  expect(report.skipped).toEqual([
    { operation: 'GET /pets', reason: expect.stringMatching(/parameters\.json.*external_refs/) },
    { operation: 'POST /pets', reason: expect.stringMatching(/NewPet\.json.*external_refs/) },
  ]);
});

test('[OAS-1] the number of tools is what a reader of the document would count', () => {
  const counted = countOperations(corpusPath('machines-3.0/specification.yml', largeOnes));
  expect(counted.find(({ operation }) => operation === 'DELETE /v2/machines/{machine_id}')).toEqual({
    operation: 'DELETE /v2/machines/{machine_id}',
    parameters: ['header X-Dangerous', 'path machine_id'],
    body: false,
    fields: [],
  });
  expect(counted.find(({ operation }) => operation === 'POST /v2/machines/{machine_id}/actions')).toMatchObject({
    parameters: ['path machine_id'],
    body: true,
    fields: ['disk', 'size', 'type'],
  });
});
