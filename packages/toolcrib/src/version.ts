import { readFileSync } from 'node:fs';

const packageJson = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };

/** Read from package.json, the only place that states the version. */
export const version: string = packageJson.version;
