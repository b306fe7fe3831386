/** The time of a change, always later than the previous one even if the clock was set back: `updated_at` detects concurrent changes. */
export function laterThan(known: { updated_at: number } | undefined): number {
  return Math.max(Date.now(), (known?.updated_at ?? 0) + 1);
}
