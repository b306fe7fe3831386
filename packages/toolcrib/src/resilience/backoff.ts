/** [MCP-10] Exponential backoff, capped at a minute, with jitter so that servers lost together do not come back together. */
export function backoffMs(attempt: number, firstMs: number, random: () => number = Math.random): number {
  const full = Math.min(firstMs * 2 ** attempt, 60_000);
  return Math.round(full / 2 + (full / 2) * random());
}

/** Short even after hours: trying costs next to nothing, and servers should come back as soon as the engine does. */
const longestEnginePauseMs = 5000;

/** [ERR-2] The pause before the container engine is tried again. */
export function engineBackoffMs(attempt: number, firstMs = 500): number {
  return Math.min(backoffMs(attempt, firstMs), longestEnginePauseMs);
}
