import type { ImportReport } from '../../model/import-report.ts';
import type { DiscoveredTool } from '../../model/tool.ts';

interface PinnedTools {
  tools: DiscoveredTool[];
  /** The origins that the source's secrets may be sent to from now on; null if no tool has named one yet. */
  origins: string[] | null;
  skipped: ImportReport['skipped'];
}

export function originsOf(tools: readonly DiscoveredTool[]): string[] {
  return [...new Set(tools.flatMap((tool) => originOf(tool) ?? []))];
}

/**
 * [SEC-1] Leaves out tools that would send a source's secrets to an origin that the first import did not name: a changed document must not
 * redirect the secrets.
 */
export function pinOrigins(tools: readonly DiscoveredTool[], known: readonly string[] | null): PinnedTools {
  const named = originsOf(tools);
  if (known === null) return { tools: [...tools], origins: named.length === 0 ? null : named, skipped: [] };
  const isKnown = (tool: DiscoveredTool) => known.includes(originOf(tool) ?? known[0] ?? '');
  const skipped = tools.filter((tool) => !isKnown(tool)).map((tool) => ({ operation: nameOf(tool), reason: reasonOf(originOf(tool)) }));
  return { tools: tools.filter(isKnown), origins: [...known], skipped };
}

function originOf({ operation }: DiscoveredTool): string | undefined {
  return operation === undefined ? undefined : URL.parse(operation.server)?.origin;
}

function nameOf({ definition, method, path }: DiscoveredTool): string {
  return method === undefined || path === undefined ? definition.name : `${method.toUpperCase()} ${path}`;
}

function reasonOf(origin: string | undefined): string {
  return `Its server is ${origin ?? 'unknown'}, which is not one of the origins of this source: add it to openapi.origins, or set server_url`;
}
