import type { ImportReport } from '../../model/import-report.ts';
import type { DiscoveredTool } from '../../model/tool.ts';

interface PinnedTools {
  tools: DiscoveredTool[];
  /** Where the source's secrets may go from now on; null where nothing was named yet. */
  origins: string[] | null;
  skipped: ImportReport['skipped'];
}

/** The origins of these tools. */
export function originsOf(tools: readonly DiscoveredTool[]): string[] {
  return [...new Set(tools.flatMap((tool) => originOf(tool) ?? []))];
}

/**
 * [SEC-1] Leaves out the tools that would take a source's secrets to a place that the first import did not name: a document that changes must
 * not send them anywhere.
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
  return `It is at ${origin ?? 'an unknown place'}, which is none of the origins of this source: list it in openapi.origins, or give server_url`;
}
