import type { SourceStatus } from '../model/source.ts';

/** [LIFE-2] Tools stay listed while their source starts, restarts or runs, and calls wait for it; only a stop or a failure removes them. */
export function isAvailable(status: SourceStatus): boolean {
  switch (status.state) {
    case 'starting':
    case 'running':
    case 'restarting':
      return true;
    case 'disabled':
    case 'stopped':
    case 'error':
      return false;
  }
}
