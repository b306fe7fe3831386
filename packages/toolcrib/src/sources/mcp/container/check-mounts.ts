import { z } from 'zod';
import type { ContainerMount } from '../../../model/container.ts';
import type { DockerEngine } from '../../../net/docker/engine.ts';
import { isRefusal } from '../../../net/docker/engine-failure.ts';
import { checkMountSource, type AllowedMounts } from '../registration/mount-rules.ts';

const volumeSchema = z.object({ Options: z.record(z.string(), z.string()).nullish() });

/**
 * [SEC-2] Checks mounts again when the container is made: since the registration a link may have changed, and a volume may be bound to
 * a directory of the machine.
 */
export async function checkMounts(engine: DockerEngine, mounts: readonly ContainerMount[], allowedMounts: AllowedMounts): Promise<void> {
  for (const [index, { source }] of mounts.entries()) {
    const rules = { field: `mcp_container.mounts.${index}.source`, allowedMounts };
    checkMountSource(source, rules);
    if (source.startsWith('/')) continue;
    const device = await deviceOf(engine, source);
    if (device?.startsWith('/')) checkMountSource(device, rules);
  }
}

/** The directory that a volume is bound to; undefined for a plain volume. */
async function deviceOf(engine: DockerEngine, volume: string): Promise<string | undefined> {
  try {
    const path = `/volumes/${encodeURIComponent(volume)}`;
    return (await engine.request({ method: 'GET', path }, volumeSchema)).Options?.['device'];
  } catch (error) {
    // It does not exist yet, and Docker makes a plain volume.
    if (isRefusal(error, 404)) return undefined;
    throw error;
  }
}
