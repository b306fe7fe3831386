import type { ValidateFunction } from 'ajv';
import type { ToolOutput } from '../model/call.ts';
import type { Tool } from '../model/tool.ts';
import { createSchemaCache } from './schema-cache.ts';
import { schemaCost } from './schema-cost.ts';
import { fieldOf, reasonOf } from './schema-error.ts';
import { weigh } from './weigh.ts';

export interface OutputValidator {
  /** [MCP-7] How an answer breaks its tool's output schema; undefined where it does not, or where finding out would cost too much. */
  violation(tool: Tool, output: ToolOutput): string | undefined;
}

interface OutputCheck {
  validate: ValidateFunction;
  /** The largest answer that is looked at. */
  mostBytes: number;
}

/** Everybody waits while a schema is compiled or an answer is checked: at most some tens of milliseconds, whatever the server sends. */
const largestCost = 2000;
const mostWork = 5_000_000;
const mostBytes = 256 * 1024;
const notChecked = 'not checked';

export function createOutputValidator(): OutputValidator {
  const checkOf = createSchemaCache<OutputCheck | typeof notChecked>({
    make({ definition: { output_schema: schema = {} } }, compile) {
      const cost = schemaCost(schema);
      if (cost > largestCost) return notChecked;
      try {
        return { validate: compile(schema), mostBytes: Math.min(mostBytes, mostWork / cost) };
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
      const check = checkOf(tool);
      if (check === notChecked || weigh(structured, { most: check.mostBytes }) > check.mostBytes) return undefined;
      if (check.validate(structured)) return undefined;
      const [first] = check.validate.errors ?? [];
      return first === undefined ? 'it does not fit' : `${fieldOf(first, 'structured_content')} ${reasonOf(first, 'is not in the schema')}`;
    },
  };
}
