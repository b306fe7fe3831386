import { copyFile, mkdir, symlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServerProcess, type ServerProcess } from './server-process.ts';

const packageDirectory = fileURLToPath(new URL('../packages/toolcrib', import.meta.url));

export interface ToolcribOptions {
  /** The command's file: that of the clone, which runs the source, or one made by `installCompiled`. */
  program?: string;
  issuer: string;
  dataDir: string;
  databaseUrl?: string;
  env?: NodeJS.ProcessEnv;
}

export const fromSource = join(packageDirectory, 'bin', 'toolcrib.cjs');

/** `toolcrib serve` as an operator starts it, but without limits per user, which are not what is measured. */
export function startToolcrib({ program = fromSource, issuer, dataDir, databaseUrl, env }: ToolcribOptions): Promise<ServerProcess> {
  const unlimited = ['--principal-rate', '0', '--principal-concurrency', '0'];
  // The servers behind it are on this machine too, and nobody is there to approve their tools.
  const place = ['--data', dataDir, '--issuer', issuer, '--allow-network', 'loopback', '--pinning', 'off'];
  const database = databaseUrl === undefined ? [] : ['--database', databaseUrl];
  return startServerProcess({
    args: (port) => [program, 'serve', '--port', String(port), ...place, ...unlimited, ...database],
    env,
  });
}

/** Lays the built package out as npm would install it, without the source; undefined where nothing has been built. */
export async function installCompiled(directory: string): Promise<string | undefined> {
  if (!existsSync(join(packageDirectory, 'dist', 'main.js'))) return undefined;
  await mkdir(join(directory, 'bin'), { recursive: true });
  const program = join(directory, 'bin', 'toolcrib.cjs');
  await copyFile(fromSource, program);
  await symlink(join(packageDirectory, 'dist'), join(directory, 'dist'));
  return program;
}
