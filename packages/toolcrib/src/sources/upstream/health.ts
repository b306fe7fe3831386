import type { CribError } from '../../model/crib-error.ts';
import type { SourceHealth } from '../../model/source.ts';

/** [LIFE-1] `degraded` after a failure, `unhealthy` after three in a row, `unauthenticated` while the server refuses our credential. */
export class HealthRecord {
  health: SourceHealth = 'unknown';
  #failures = 0;

  succeeded(): void {
    this.#failures = 0;
    this.health = 'healthy';
  }

  failed(error: CribError): void {
    this.#failures++;
    // [ERR-10] The server is up, and refuses the credential.
    if (error.upstreamStatus === 401 || error.upstreamStatus === 403) this.health = 'unauthenticated';
    else this.health = this.#failures >= 3 ? 'unhealthy' : 'degraded';
  }
}
