import type { ValidateFunction } from 'ajv';
import type { JsonSchema } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import { createSchemaCompiler } from './schema-compiler.ts';

interface SchemaCacheInput<Made> {
  /** What is made of a tool's definition, once. */
  make(tool: Tool, compile: (schema: JsonSchema) => ValidateFunction): Made;
  maxCompiled?: number | undefined;
}

interface SchemaCache<Made> {
  of(tool: Tool): Made;
  /** What was made before, if it was. */
  peek(tool: Tool): Made | undefined;
}

/** Made on first use, and kept for the most recently used definitions only: each costs about a millisecond and some memory. */
export function createSchemaCache<Made>({ make, maxCompiled = 2000 }: SchemaCacheInput<Made>): SchemaCache<Made> {
  let compile = createSchemaCompiler();
  const byDefinition = new Map<string, Made>();
  const byTool = new WeakMap<Tool, Made>();

  return {
    of(tool) {
      const known = byTool.get(tool);
      if (known !== undefined) return known;
      let made = byDefinition.get(tool.definition_hash);
      if (made === undefined) {
        made = make(tool, compile);
        if (byDefinition.size >= maxCompiled) {
          byDefinition.clear();
          compile = createSchemaCompiler();
        }
        byDefinition.set(tool.definition_hash, made);
      }
      byTool.set(tool, made);
      return made;
    },
    peek: (tool) => byTool.get(tool) ?? byDefinition.get(tool.definition_hash),
  };
}
