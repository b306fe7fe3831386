import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import { createDockerEngine } from '../net/docker/engine.ts';
import { type Check, reasonOf } from './check.ts';

const run = promisify(execFile);
const patienceMs = 15_000;

interface Program {
  name: string;
  args: string[];
  use: string;
  install: Cures;
}

type Cures = { linux: string; darwin: string; win32: string };

const programs: Program[] = [
  {
    name: 'npx',
    args: ['--version'],
    use: 'for sources that are npm packages',
    install: { linux: 'sudo apt-get install npm', darwin: 'brew install node', win32: 'winget install OpenJS.NodeJS.LTS' },
  },
  {
    name: 'uvx',
    args: ['--version'],
    use: 'for sources that are Python packages',
    install: {
      linux: 'curl -LsSf https://astral.sh/uv/install.sh | sh',
      darwin: 'brew install uv',
      win32: 'winget install astral-sh.uv',
    },
  },
  {
    name: 'docker',
    args: ['--version'],
    use: 'for docker packages',
    install: {
      linux: 'curl -fsSL https://get.docker.com | sh',
      darwin: 'brew install --cask docker',
      win32: 'winget install Docker.DockerDesktop',
    },
  },
];

const startDocker: Cures = { linux: 'sudo systemctl start docker', darwin: 'open -a Docker', win32: 'start Docker Desktop' };

/** Programs that only some sources need: nobody misses them until such a source is registered. */
export async function checkPrograms(dockerHost: string | undefined): Promise<Check[]> {
  const [npx, uvx, docker, daemon] = await Promise.all([...programs.map(checkProgram), checkDaemon(dockerHost)]);
  // With neither, containers are probably not wanted, and one line is enough.
  const isWanted = docker?.state === 'ok' || daemon?.state === 'ok';
  return [npx, uvx, docker, ...(isWanted ? [daemon] : [])].filter((check) => check !== undefined);
}

async function checkProgram({ name, args, use, install }: Program): Promise<Check> {
  const check = { name, required: false };
  try {
    return { ...check, state: 'ok', detail: `${await firstLine(name, args)}, ${use}` };
  } catch (error) {
    if (isAbsent(error)) return { ...check, state: 'missing', detail: use, cure: choose(install) };
    return { ...check, state: 'broken', detail: `${use}; it fails: ${complaintOf(error)}`, cure: choose(install) };
  }
}

/** Asks the daemon directly, as sources in containers do, which need no docker command. */
async function checkDaemon(host: string | undefined): Promise<Check> {
  const check = { name: 'docker daemon', required: false };
  const engine = createDockerEngine(host, process.env);
  try {
    const request = { method: 'GET', path: '/version', signal: AbortSignal.timeout(patienceMs) } as const;
    const { Version } = await engine.request(request, z.object({ Version: z.string() }));
    return { ...check, state: 'ok', detail: `${Version}, for sources that run in containers` };
  } catch (error) {
    return { ...check, state: 'broken', detail: reasonOf(error), cure: choose(startDocker) };
  } finally {
    engine.close();
  }
}

async function firstLine(name: string, args: string[]): Promise<string> {
  // On Windows npx is a script, which only a shell can start; the arguments are all ours.
  const { stdout } = await run(name, args, { timeout: patienceMs, shell: process.platform === 'win32' });
  return stdout.trim().split('\n')[0] ?? '';
}

function isAbsent(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  // The shell of Windows exits with 9009 if there is no such command.
  return code === 'ENOENT' || code === 9009;
}

function complaintOf(error: unknown): string {
  const { stderr, killed } = error as { stderr?: string; killed?: boolean };
  if (killed === true) return `no answer within ${patienceMs / 1000} seconds`;
  return stderr?.trim().split('\n')[0] || reasonOf(error);
}

function choose(cures: Cures): string {
  return process.platform in cures ? cures[process.platform as keyof Cures] : cures.linux;
}
