import { setTimeout as pause } from 'node:timers/promises';
import { CribError } from '../model/crib-error.ts';
import type { SourceRecord } from '../model/source.ts';
import { backoffMs } from './backoff.ts';
import type { SourceSupervisor } from './source-supervisor.ts';

/** What may be over by itself; a package that is not there, or a value that is missing, will still be so in a minute. */
const passing = new Set<unknown>(['NETWORK_ERROR', 'SERVICE_UNAVAILABLE']);

/**
 * [MCP-10] When Toolcrib starts, the servers it speaks to may be starting too, and nobody is there who would start them again by hand. So a
 * failed start is tried as often as a lost session is.
 */
export async function startPersistently({ source, supervisor }: { source: SourceRecord; supervisor: SourceSupervisor }): Promise<void> {
  const { maxAttempts, backoffMs: firstMs } = source.definition?.resilience.restart ?? { maxAttempts: 0, backoffMs: 0 };
  for (let attempt = 0; ; attempt++) {
    try {
      return await supervisor.start();
    } catch (error) {
      if (attempt >= maxAttempts || !(error instanceof CribError && passing.has(error.code))) throw error;
    }
    await pause(backoffMs(attempt, firstMs), undefined, { ref: false });
    // Stopped, replaced, or started by somebody else meanwhile: it is theirs now.
    if (supervisor.status.state !== 'error') return;
  }
}
