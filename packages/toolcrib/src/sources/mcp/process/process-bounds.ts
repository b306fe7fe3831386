import type { ProcessLimits } from '../../../model/process-limits.ts';
import type { ResourceWatch } from './resource-watch.ts';
import type { RunAccount } from './run-account.ts';

/** [SEC-2] Within what a server is started on this machine. */
export interface ProcessBounds {
  limits: ProcessLimits;
  /** Where `prlimit` is; there wherever there are limits. */
  prlimit: string | undefined;
  watch: ResourceWatch;
  /** As whom; null: as ourselves. */
  account: RunAccount | null;
}
