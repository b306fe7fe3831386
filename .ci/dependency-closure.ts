/** `node dependency-closure.ts FOLDER`: prints the folder of an installed package and those of everything it needs to run, one per line. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Manifest {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

const found = new Set<string>();
visit(process.argv[2] ?? '');
for (const folder of [...found].sort()) console.log(folder);

function visit(folder: string): void {
  if (found.has(folder)) return;
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  found.add(folder);
  for (const name of Object.keys({ ...manifest.peerDependencies, ...manifest.optionalDependencies, ...manifest.dependencies })) {
    const place = placeOf(name, folder);
    if (place !== undefined) visit(place);
    else if (manifest.dependencies?.[name] !== undefined) throw new Error(`${name}, which ${folder} needs, is not installed`);
  }
}

/** Searches as Node does: in the node_modules of the folder itself, then of each folder above. */
function placeOf(name: string, folder: string): string | undefined {
  const place = join(folder, 'node_modules', name);
  if (existsSync(join(place, 'package.json'))) return place;
  return dirname(folder) === folder ? undefined : placeOf(name, dirname(folder));
}
