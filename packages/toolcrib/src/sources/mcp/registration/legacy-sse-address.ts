/** Whether an address is that of an old server, which speaks HTTP+SSE: by custom its path ends in `/sse`. */
export function isLegacySseAddress(address: string): boolean {
  return /\/sse\/?(?:$|[?#])/.test(address);
}
