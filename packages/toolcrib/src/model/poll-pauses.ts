import type { PollProfile } from './poll-profile.ts';

/** [POLL-1] How long it is waited before each poll, the first being 1. */
export function pauseBefore(poll: number, { interval_ms, backoff, max_interval_ms }: PollProfile): number {
  return Math.min(Math.round(interval_ms * backoff ** (poll - 1)), max_interval_ms);
}

/** All pauses together: what following an operation may take beside the requests themselves. */
export function longestPauses(profile: PollProfile): number {
  let total = 0;
  for (let poll = 1; poll <= profile.max_attempts; poll++) total += pauseBefore(poll, profile);
  return total;
}
