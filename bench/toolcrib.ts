import { copyFile, mkdir, symlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServerProcess, type ServerProcess } from './server-process.ts';

const packageDirectory = fileURLToPath(new URL('../packages/toolcrib', import.meta.url));

export interface ToolcribOptions {
  /** The file of the command: the clone's, which runs the source, or one made by `installCompiled`. */
  program?: string;
  issuer: string;
  dataDir: string;
  databaseUrl?: string;
  /** [SEC-2] The file that says which programs may run on this machine. */
  runRules?: string;
  env?: NodeJS.ProcessEnv;
}

export const fromSource = join(packageDirectory, 'bin', 'toolcrib.cjs');

/** `toolcrib serve` as an operator starts it, with its MCP door open, but without limits per user, which are not measured here. */
export function startToolcrib({
  program = fromSource,
  issuer,
  dataDir,
  databaseUrl,
  runRules,
  env,
}: ToolcribOptions): Promise<ServerProcess> {
  const unlimited = ['--principal-rate', '0', '--principal-concurrency', '0'];
  // The servers behind it run on this machine, and nobody is there to approve their tools.
  const place = ['--data', dataDir, '--issuer', issuer, '--allow-network', 'loopback', '--pinning', 'off'];
  const database = databaseUrl === undefined ? [] : ['--database', databaseUrl];
  const door = ['--mcp-door', 'on'];
  const rules = runRules === undefined ? [] : ['--run-rules', runRules];
  return startServerProcess({
    args: (port) => [program, 'serve', '--port', String(port), ...place, ...unlimited, ...database, ...rules, ...door],
    env,
  });
}

/** Lays out the built package as npm would install it, without the source; undefined if nothing has been built. */
export async function installCompiled(directory: string): Promise<string | undefined> {
  if (!existsSync(join(packageDirectory, 'dist', 'main.js'))) return undefined;
  await mkdir(join(directory, 'bin'), { recursive: true });
  const program = join(directory, 'bin', 'toolcrib.cjs');
  await copyFile(fromSource, program);
  await symlink(join(packageDirectory, 'dist'), join(directory, 'dist'));
  return program;
}
