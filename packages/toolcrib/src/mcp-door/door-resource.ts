/** An address of the door as OAuth sees it (RFC 8707, RFC 9728). */
export interface DoorResource {
  /** Without its query: what tokens are meant for. */
  readonly base: string;
  /** Exactly as it was requested. */
  readonly url: string;
  /** Where its metadata is. */
  readonly metadataUrl: string;
}

export const metadataPath = '/.well-known/oauth-protected-resource';

/** `publicUrl` has no slash at its end; `query` begins with its question mark, or is empty. */
export function doorResource(publicUrl: string, group: string | undefined, query: string): DoorResource {
  const path = group === undefined ? '/mcp' : `/mcp/${group}`;
  const base = `${publicUrl}${path}`;
  const { origin, prefix } = partsOf(publicUrl);
  return { base, url: `${base}${query}`, metadataUrl: `${origin}${metadataPath}${prefix}${path}${query}` };
}

/** The path below which a proxy serves us, which is empty for most. */
export function publicPrefix(publicUrl: string): string {
  return partsOf(publicUrl).prefix;
}

/** RFC 9728 §3.1: the well-known part stands between the host and the path. */
function partsOf(publicUrl: string): { origin: string; prefix: string } {
  const end = publicUrl.indexOf('/', publicUrl.indexOf('://') + 3);
  return end < 0 ? { origin: publicUrl, prefix: '' } : { origin: publicUrl.slice(0, end), prefix: publicUrl.slice(end) };
}

/** The query of a request as it was sent, with its question mark. */
export function queryOf(url: string): string {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start);
}
