import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { freePort } from '../../src/net/free-port.ts';
import { temporaryDirectory } from '../running-server.ts';
import { pageScript } from './page-script.ts';
import { readBlocks, workspace } from './read-page.ts';
import type { Stage } from './stages.ts';
import type { StandIns } from './stand-ins.ts';

/** Does what a page says in a folder that looks like the workspace, and gives what went wrong, or nothing. */
export async function tryPage(page: string, { files = {}, ...settings }: Stage, standIns: StandIns): Promise<string> {
  await using folder = await temporaryDirectory();
  for (const name of readdirSync(workspace)) if (!name.startsWith('.toolcrib')) symlinkSync(join(workspace, name), join(folder.path, name));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder.path, name)), { recursive: true });
    writeFileSync(join(folder.path, name), text);
  }
  const ports = { 7300: await freePort('127.0.0.1'), 7410: await freePort('127.0.0.1'), 7420: await freePort('127.0.0.1') };
  const replaced: StandIns = [...standIns, ...Object.entries(ports).map(([port, other]): [string, string] => [port, String(other)])];
  const script = replaced.reduce((text, [words, standIn]) => text.replaceAll(words, standIn), pageScript(readBlocks(page), settings));
  const child = spawn('bash', ['-c', script], {
    cwd: folder.path,
    env: {
      ...process.env,
      PATH: [dirname(process.env.TOOLCRIB_TEST_UVX ?? ''), process.env.PATH].join(delimiter),
      STAGE: folder.path,
      // The one of the workspace: what is here only looks like it.
      KEYCLOAK_STATE_DIR: process.env.KEYCLOAK_STATE_DIR ?? join(workspace, '.keycloak'),
      TOOLCRIB_PORT: String(ports[7300]),
      TOOLCRIB_URL: `http://127.0.0.1:${ports[7300]}`,
      PORT: String(ports[7420]),
      TOOLCRIB_LOG_LEVEL: 'warn',
      SHELL: '/bin/bash',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (complaint += chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0) return '';
  const left = (name: string) => readFileSync(join(folder.path, name), 'utf8');
  return `${page}, ${left('.doing')}\n${left('.out')}\n${complaint}`;
}
