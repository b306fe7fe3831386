import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { until } from '../running-server.ts';
import { programPath, type ClientHome, type RunningClient } from './client-home.ts';

/** Stands where a client looks for the browser of its user, and keeps the address that it is to open. */
export async function awaitOpenedPage(home: ClientHome) {
  const folder = join(home.path, 'bin');
  await mkdir(folder);
  // Some start this program by its name, others the one that the variable names.
  const [opened, program] = [join(folder, 'opened'), join(folder, 'xdg-open')];
  await writeFile(program, `#!/bin/sh\nprintf '%s' "$1" > "${opened}.part" && mv "${opened}.part" "${opened}"\n`);
  await chmod(program, 0o755);
  return {
    env: { BROWSER: program, PATH: [folder, programPath].join(delimiter) },
    /** The address, as soon as the client opens it. */
    of: (client: RunningClient) =>
      Promise.race([
        until(() => readFile(opened, 'utf8').catch(() => undefined)),
        client.ended.then(({ code }) => {
          throw new Error(`It ended with ${code} and opened no browser: ${client.printed}`);
        }),
      ]),
  };
}
