import type { CribError } from '../model/crib-error.ts';
import type { SourceHealth } from '../model/source.ts';

export interface HealthRecord {
  readonly health: SourceHealth;
  succeeded(): void;
  failed(error: CribError): void;
}

/** [LIFE-1] `degraded` after a failure, `unhealthy` after three in a row, `unauthenticated` while the server refuses who we are. */
export function createHealthRecord(): HealthRecord {
  let failures = 0;
  let health: SourceHealth = 'unknown';
  return {
    get health() {
      return health;
    },
    succeeded() {
      failures = 0;
      health = 'healthy';
    },
    failed(error) {
      failures++;
      // [ERR-10] It is alive, and says no.
      if (error.upstreamStatus === 401 || error.upstreamStatus === 403) health = 'unauthenticated';
      else health = failures >= 3 ? 'unhealthy' : 'degraded';
    },
  };
}
