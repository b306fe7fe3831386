/** Whether an address belongs to an old HTTP+SSE server: by convention its path ends in `/sse`. */
export function isLegacySseAddress(address: string): boolean {
  return /\/sse\/?(?:$|[?#])/.test(address);
}
