import type { McpRegistrationInput } from './forms.ts';

interface Timeouts {
  timeout?: number | null | undefined;
  tool_timeout_sec?: number | null | undefined;
  startup_timeout_sec?: number | null | undefined;
}

const longestMs = 3_600_000;

/**
 * The timeouts of a client's entry. Some clients write `timeout` in seconds and some in milliseconds: below 1000 it can only be seconds,
 * above 3600 (an hour in seconds) only milliseconds. A value in between is not used.
 */
export function importedTimeouts(server: Timeouts, notes: string[]): Pick<McpRegistrationInput, 'resilience'> {
  const { timeout, tool_timeout_sec: toolSeconds, startup_timeout_sec: startSeconds } = server;
  const requestTimeoutMs = toolSeconds == null ? millisecondsOf(timeout, notes) : msOf(toolSeconds * 1000);
  const resilience = {
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
    ...(startSeconds == null ? {} : { startupTimeoutMs: msOf(startSeconds * 1000) }),
  };
  return Object.keys(resilience).length === 0 ? {} : { resilience };
}

function millisecondsOf(timeout: number | null | undefined, notes: string[]): number | undefined {
  if (timeout == null || timeout === 0) return undefined;
  if (timeout >= 1000 && timeout <= 3600) {
    notes.push(`timeout: not used, because ${timeout} may be seconds or milliseconds. Set resilience.requestTimeoutMs of the source`);
    return undefined;
  }
  notes.push(`timeout: read as ${timeout} ${timeout < 1000 ? 'seconds' : 'milliseconds'} for each call`);
  return msOf(timeout < 1000 ? timeout * 1000 : timeout);
}

function msOf(ms: number): number {
  return Math.min(longestMs, Math.max(1, Math.round(ms)));
}
