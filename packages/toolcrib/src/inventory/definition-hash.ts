import { hash } from 'node:crypto';
import type { DiscoveredTool, PinnedDefinition } from '../model/tool.ts';
import { canonicalJson } from '../model/canonical-json.ts';

/** [INV-3] Everything about a tool that somebody approves. */
export function pinnedDefinition({ definition, operation, workflow, plan }: DiscoveredTool): PinnedDefinition {
  return {
    ...definition,
    ...(operation === undefined ? {} : { operation }),
    ...(workflow === undefined ? {} : { workflow }),
    ...(plan === undefined ? {} : { plan }),
  };
}

/** [INV-3] The hash of a definition, independent of the order of its keys. */
export function definitionHash(definition: PinnedDefinition): string {
  return hash('sha256', canonicalJson(definition), 'base64url');
}
