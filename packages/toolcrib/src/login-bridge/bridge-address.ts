/** The addresses of the bridge, all below the address at which browsers reach this server. */
export interface BridgeAddress {
  readonly publicUrl: string;
  readonly issuer: string;
  /** The door for all tools, which is meant where a client names no resource. */
  readonly usualResource: string;
  /** Where the provider sends browsers back to. */
  readonly callback: string;
  /** The door that a resource is the address of, without its query (RFC 8707). Undefined where it is none of this server. */
  audienceOf(resource: string): string | undefined;
}

const doorPath = /^\/mcp(?:\/[a-z0-9][a-z0-9_-]{0,63})?$/;

export function bridgeAddress(publicUrl: string): BridgeAddress {
  const issuer = `${publicUrl}/login`;
  return {
    publicUrl,
    issuer,
    usualResource: `${publicUrl}/mcp`,
    callback: `${issuer}/callback`,
    audienceOf(resource) {
      // Compared as text: an address that only resolves to ours, such as one with dots or another case, is not ours.
      const [base = '', ...more] = resource.split('?');
      if (more.length > 1 || resource.includes('#') || !base.startsWith(publicUrl)) return undefined;
      return doorPath.test(base.slice(publicUrl.length)) ? base : undefined;
    },
  };
}
