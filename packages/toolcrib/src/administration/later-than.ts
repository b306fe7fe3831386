/** When a change was made. Later than the last one on every clock: by this it is seen whether something was changed since it was read. */
export function laterThan(known: { updated_at: number } | undefined): number {
  return Math.max(Date.now(), (known?.updated_at ?? 0) + 1);
}
