import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { DockerEngine } from '../../../net/docker/engine.ts';
import { isRefusal } from '../../../net/docker/engine-failure.ts';

const inspectedSchema = z.object({
  Id: z.string(),
  Name: z.string(),
  State: z.object({ Running: z.boolean(), Paused: z.boolean().default(false) }),
  Config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }),
  HostConfig: z.object({
    Privileged: z.boolean().default(false),
    PidMode: z.string().default(''),
    Memory: z.int().default(0),
    CapAdd: z.array(z.string()).nullish(),
  }),
  Mounts: z.array(z.object({ Source: z.string().default('') })).nullish(),
});

/** The facts about a container that decide how we use it. */
export interface InspectedContainer {
  id: string;
  name: string;
  running: boolean;
  paused: boolean;
  /** Null where it has no limit. */
  memoryMb: number | null;
  labels: Readonly<Record<string, string>>;
  privileged: boolean;
  /** Whether it can see the processes of the machine. */
  sharesProcesses: boolean;
  addedCapabilities: readonly string[];
  /** Paths of the machine that are mounted into it. */
  mounted: readonly string[];
}

export async function inspectContainer(engine: DockerEngine, nameOrId: string, signal?: AbortSignal): Promise<InspectedContainer> {
  const path = `/containers/${encodeURIComponent(nameOrId)}/json`;
  const { Id, Name, State, Config, HostConfig, Mounts } = await engine.request({ method: 'GET', path, signal }, inspectedSchema);
  return {
    id: Id,
    name: Name.replace(/^\//, ''),
    running: State.Running,
    paused: State.Paused,
    memoryMb: HostConfig.Memory > 0 ? Math.round(HostConfig.Memory / 1_048_576) : null,
    labels: Config.Labels ?? {},
    privileged: HostConfig.Privileged,
    sharesProcesses: HostConfig.PidMode === 'host',
    addedCapabilities: HostConfig.CapAdd ?? [],
    mounted: (Mounts ?? []).map(({ Source }) => Source),
  };
}

/** Whether it runs, and still runs a quarter of a second later: its processes are seen to end a moment before it does. */
export async function isRunning(engine: DockerEngine, id: string): Promise<boolean> {
  for (let look = 0; look < 5; look++) {
    if (look > 0) await delay(50);
    const running = await inspectContainer(engine, id).then(
      (found) => found.running,
      (error: unknown) => {
        if (isRefusal(error, 404)) return false;
        throw error;
      },
    );
    if (!running) return false;
  }
  return true;
}
