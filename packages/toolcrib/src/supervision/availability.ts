import type { SourceStatus } from '../model/source.ts';

/** [LIFE-2] Only an end takes tools off the list: what starts, restarts or runs keeps them, and calls wait for it. */
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
