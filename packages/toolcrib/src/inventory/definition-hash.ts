import { hash } from 'node:crypto';
import type { ToolDefinition } from '../model/tool.ts';

/** [INV-3] What a definition says, whatever order its keys came in. */
export function definitionHash(definition: ToolDefinition): string {
  return hash('sha256', canonicalJson(definition), 'base64url');
}

export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (inner === null || typeof inner !== 'object' || Array.isArray(inner)) return inner;
    // Null prototype: a key named __proto__ must end up in the text, not in the object's chain.
    const sorted = Object.create(null) as Record<string, unknown>;
    for (const key of Object.keys(inner).sort()) sorted[key] = (inner as Record<string, unknown>)[key];
    return sorted;
  });
}
