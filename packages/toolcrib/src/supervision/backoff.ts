/** [MCP-10] Doubling from the first wait, capped at a minute, with jitter so that servers lost together do not come back together. */
export function backoffMs(attempt: number, firstMs: number, random: () => number = Math.random): number {
  const full = Math.min(firstMs * 2 ** attempt, 60_000);
  return Math.round(full / 2 + (full / 2) * random());
}
