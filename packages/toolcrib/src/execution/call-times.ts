import { isDurable, type Tool } from '../model/tool.ts';

export interface CallTimes {
  defaultTimeoutMs: number;
  maxTimeoutMs: number;
}

/** [POLL-2] A call that outlives its server is given the time for it, where nobody says otherwise. */
const durableTimeoutMs = 3_600_000;
/** A timer holds no more than 24 days. */
const longestMs = 20 * 86_400_000;

export function usualTime(tool: Tool, times: CallTimes): number {
  const longest = longestTime(tool, times);
  if (isDurable(tool)) return longest;
  return Math.min(tool.limits.timeout_ms ?? tool.timeout_ms ?? times.defaultTimeoutMs, longest);
}

/** Where tool and source both say, both hold. */
export function longestTime(tool: Tool, times: CallTimes): number {
  const { limits: own, source_limits: all } = tool;
  if (own.timeout_ms !== undefined) return Math.min(own.timeout_ms, all.timeout_ms ?? own.timeout_ms);
  if (all.timeout_ms !== undefined || !isDurable(tool)) return all.timeout_ms ?? times.maxTimeoutMs;
  return Math.min(Math.max(times.maxTimeoutMs, durableTimeoutMs, tool.timeout_ms ?? 0), longestMs);
}
