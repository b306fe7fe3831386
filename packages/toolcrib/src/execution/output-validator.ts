import type { ValidateFunction } from 'ajv';
import { schemaSize } from '../inventory/schema-size.ts';
import type { ToolOutput } from '../model/call.ts';
import type { Json } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import { createSchemaCache } from './schema-cache.ts';
import { fieldOf, reasonOf } from './schema-error.ts';
import { createSchemaWork, mostSizeHere, mostWorkHere } from './schema-work.ts';

export interface OutputValidator {
  /** [MCP-7] How an answer breaks its tool's output schema; undefined where it does not, or where finding out would cost too much. */
  violation(tool: Tool, output: ToolOutput): string | undefined;
}

interface OutputCheck {
  validate: ValidateFunction;
  workFor(output: Json, most: number): number;
}

const notChecked = 'not checked';

export function createOutputValidator(): OutputValidator {
  const checks = createSchemaCache<OutputCheck | typeof notChecked>({
    make({ definition: { output_schema: schema = {} } }, compile) {
      if (schemaSize(schema) > mostSizeHere) return notChecked;
      try {
        return { validate: compile(schema), workFor: createSchemaWork(schema) };
      } catch {
        // The schema is the server's own, and only advice.
        return notChecked;
      }
    },
  });

  return {
    violation(tool, { structured_content: structured, is_error }) {
      // Our own tools are held to theirs by tests.
      if (tool.definition.output_schema === undefined || is_error === true || tool.execution_mode === 'builtin') return undefined;
      if (structured === undefined || structured === null) return 'there is no structured content';
      const check = checks.of(tool);
      if (check === notChecked || check.workFor(structured, mostWorkHere) > mostWorkHere || check.validate(structured)) return undefined;
      const [first] = check.validate.errors ?? [];
      return first === undefined ? 'it does not fit' : `${fieldOf(first, 'structured_content')} ${reasonOf(first, 'is not in the schema')}`;
    },
  };
}
