import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const directory = join(import.meta.dirname, '..', '..', '..', 'examples');
const programs = readdirSync(directory).filter((file) => file.endsWith('.ts'));

test.each(programs)('the example %s runs, and its assertions hold', async (program) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=toolcrib-source', join(directory, program)]);
  expect(stdout).toMatch(/Done\.\n$/);
});
