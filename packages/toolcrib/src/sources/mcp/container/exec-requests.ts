import type { Duplex } from 'node:stream';
import { z } from 'zod';
import type { DockerEngine } from '../../../net/docker/engine.ts';

export interface ExecToCreate {
  containerId: string;
  command: readonly string[];
  env: readonly string[];
  user: string | null;
  workdir: string | null;
  signal: AbortSignal | undefined;
}

const createdSchema = z.object({ Id: z.string() });

export async function createExec(engine: DockerEngine, exec: ExecToCreate): Promise<string> {
  const { containerId, command, env, user, workdir, signal } = exec;
  const body = {
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Tty: false,
    Cmd: command,
    Env: env,
    ...(user === null ? {} : { User: user }),
    ...(workdir === null ? {} : { WorkingDir: workdir }),
  };
  const path = `/containers/${encodeURIComponent(containerId)}/exec`;
  return (await engine.request({ method: 'POST', path, body, signal }, createdSchema)).Id;
}

/** Its input and output as one stream of frames. */
export function startExec(engine: DockerEngine, execId: string, signal: AbortSignal | undefined): Promise<Duplex> {
  return engine.hijack({ method: 'POST', path: `/exec/${execId}/start`, body: { Detach: false, Tty: false }, signal });
}

const inspectedSchema = z.object({ Running: z.boolean(), ExitCode: z.int().nullable() });

export function inspectExec(engine: DockerEngine, execId: string): Promise<z.infer<typeof inspectedSchema>> {
  return engine.request({ method: 'GET', path: `/exec/${execId}/json` }, inspectedSchema);
}
