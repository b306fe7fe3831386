import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { configFolder } from './engine-address.ts';

const configSchema = z.object({
  auths: z.record(z.string(), z.object({ auth: z.string().optional(), identitytoken: z.string().optional() })).default({}),
  credsStore: z.string().optional(),
  credHelpers: z.record(z.string(), z.string()).default({}),
});
const helpedSchema = z.object({ Username: z.string(), Secret: z.string() });
const run = promisify(execFile);
const longestHelpMs = 10_000;

/** The registry of an image, as `docker login` calls it. */
export function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && /[.:]|^localhost$/.test(first) ? first : 'https://index.docker.io/v1/';
}

/**
 * Our credential for the registry of an image, in the engine's format: the one that `docker login` stored for this account. Undefined where
 * there is none, or it cannot be read: then the registry decides.
 */
export async function registryAuth(image: string, environment: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
  const serveraddress = registryOf(image);
  try {
    const { auths, credsStore, credHelpers } = configSchema.parse(
      JSON.parse(await readFile(join(configFolder(environment), 'config.json'), 'utf8')),
    );
    const helper = credHelpers[serveraddress] ?? credsStore;
    const { auth = '', identitytoken } = auths[serveraddress] ?? {};
    if (identitytoken !== undefined) return encoded({ serveraddress, identitytoken });
    const written = Buffer.from(auth, 'base64').toString('utf8');
    const colon = written.indexOf(':');
    if (colon > 0) return encoded({ serveraddress, username: written.slice(0, colon), password: written.slice(colon + 1) });
    if (helper === undefined || !/^[\w-]+$/.test(helper)) return undefined;
    const { Username: username, Secret: secret } = await ask(helper, serveraddress);
    return encoded(username === '<token>' ? { serveraddress, identitytoken: secret } : { serveraddress, username, password: secret });
  } catch {
    return undefined;
  }
}

async function ask(helper: string, serveraddress: string): Promise<z.infer<typeof helpedSchema>> {
  const asking = run(`docker-credential-${helper}`, ['get'], { timeout: longestHelpMs });
  asking.child.stdin?.on('error', () => undefined).end(serveraddress);
  return helpedSchema.parse(JSON.parse((await asking).stdout));
}

function encoded(auth: object): string {
  return Buffer.from(JSON.stringify(auth)).toString('base64url');
}
