import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Peer } from './peers.ts';

const folder =
  process.env['TOOLCRIB_BENCH_PEERS'] ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'toolcrib-bench-peers');

/** Where `install.sh` has put the program of a peer, or why it could not. */
export function installed({ key, file }: Peer): { program: string } | { absent: string } {
  const program = join(folder, file);
  if (existsSync(program)) return { program };
  try {
    return { absent: `not installed: ${readFileSync(join(folder, 'absent', key), 'utf8').trim()}` };
  } catch {
    return { absent: 'not installed: bench/peers/install.sh does it' };
  }
}
