import { hash } from 'node:crypto';
import type { DiscoveredTool, PinnedDefinition } from '../model/tool.ts';

/** [INV-3] All of a tool that somebody approves. */
export function pinnedDefinition({ definition, operation, workflow }: DiscoveredTool): PinnedDefinition {
  return { ...definition, ...(operation === undefined ? {} : { operation }), ...(workflow === undefined ? {} : { workflow }) };
}

/** [INV-3] What a definition says, whatever order its keys came in. */
export function definitionHash(definition: PinnedDefinition): string {
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
