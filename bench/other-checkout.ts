import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as mcpToolcrib from './mcp-toolcrib.ts';
import type * as seed from './seed.ts';
import type * as toolcrib from './toolcrib.ts';

/** The parts of the bench that write data for a server and start it. Each version has its own, because each has its own tables. */
export type ServerSetup = Pick<typeof mcpToolcrib, 'sourceOf' | 'startWithSources'> &
  Pick<typeof seed, 'seed'> &
  Pick<typeof toolcrib, 'startToolcrib'>;

/** Takes them from another checkout, so that two versions can be measured in one run. */
export async function setupOf(checkout: string): Promise<ServerSetup> {
  const load = (file: string) => import(pathToFileURL(join(checkout, 'bench', file)).href) as Promise<object>;
  const parts = await Promise.all(['mcp-toolcrib.ts', 'seed.ts', 'toolcrib.ts'].map(load));
  return Object.assign({}, ...parts) as ServerSetup;
}
