import { readFileSync } from 'node:fs';

const packageJson = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };

/** The one place that says which version this is: the package itself. */
export const version: string = packageJson.version;
