import type { ProcessLimits } from '../../../model/process-limits.ts';
import type { ResourceWatch } from './resource-watch.ts';
import type { RunAccount } from './run-account.ts';

/** [SEC-2] The limits of a server on this machine. */
export interface ProcessBounds {
  limits: ProcessLimits;
  /** The path of `prlimit`; present wherever there are limits. */
  prlimit: string | undefined;
  watch: ResourceWatch;
  /** The account it runs as; null for our own. */
  account: RunAccount | null;
}
