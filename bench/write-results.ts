import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';

export const machine = `${availableParallelism()} cores, shared with the load program; Node ${process.versions.node}; ${process.platform} ${process.arch}`;

/** Writes `results/<name>.json`. */
export async function writeResults(name: string, results: object): Promise<void> {
  const directory = new URL('./results/', import.meta.url);
  await mkdir(directory, { recursive: true });
  // Lists of numbers on one line, as the formatter writes them.
  const json = JSON.stringify(results, null, 2).replaceAll(/\[[\d\s.,]+\]/g, (list) =>
    JSON.stringify(JSON.parse(list)).replaceAll(',', ', '),
  );
  await writeFile(new URL(`${name}.json`, directory), `${json}\n`);
}
