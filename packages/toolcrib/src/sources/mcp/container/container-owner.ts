import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The mark on all containers of one data directory. */
export interface ContainerOwner {
  /** Null where no container was ever made for this data directory: then there are none to look for. */
  known(): string | null;
  /** Makes the mark where there is none yet. */
  id(): string;
}

export function createContainerOwner({ dataDir }: { dataDir: string }): ContainerOwner {
  const file = join(dataDir, 'container-owner');

  function known(): string | null {
    try {
      const id = readFileSync(file, 'utf8').trim();
      return /^[\w-]{1,64}$/.test(id) ? id : null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  return {
    known,
    id() {
      const id = known();
      if (id !== null) return id;
      const made = randomUUID();
      mkdirSync(dataDir, { recursive: true, mode: 0o700 });
      writeFileSync(file, `${made}\n`, { mode: 0o600 });
      return made;
    },
  };
}
