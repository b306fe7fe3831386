import { z } from 'zod';
import type { ContainerMount } from '../../../model/container.ts';
import type { DockerEngine } from '../../../net/docker/engine.ts';
import { isRefusal } from '../../../net/docker/engine-failure.ts';
import { checkMountSource, type AllowedMounts } from '../registration/mount-rules.ts';

const volumeSchema = z.object({ Options: z.record(z.string(), z.string()).nullish() });

/**
 * [SEC-2] Looks at what is mounted once more when it is: since it was registered a link may lead elsewhere, and a volume may be a directory of
 * the machine by another name.
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

/** What lies behind a volume that somebody has made to be something else. */
async function deviceOf(engine: DockerEngine, volume: string): Promise<string | undefined> {
  try {
    const path = `/volumes/${encodeURIComponent(volume)}`;
    return (await engine.request({ method: 'GET', path }, volumeSchema)).Options?.['device'];
  } catch (error) {
    // There is none yet, and one that is made for this is only a volume.
    if (isRefusal(error, 404)) return undefined;
    throw error;
  }
}
