import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { CribError } from '../../src/model/crib-error.ts';
import { mcpRegistrationSchema } from '../../src/sources/mcp/registration/forms.ts';
import { readManifest } from '../../src/sources/mcp/registration/manifest.ts';
import { normaliseRegistration } from '../../src/sources/mcp/registration/normalise.ts';
import type { McpDefinition } from '../../src/sources/mcp/mcp-definition.ts';
import type { NormalisedRegistration } from '../../src/sources/registration/normalised-registration.ts';
import type { McpRegistrationContext } from '../../src/sources/mcp/registration/mcp-registration-context.ts';

const sourceId = '0b5c7f0e-3a54-4c3e-9d58-5a1f6c1d2e3f';

export const secretName = (variable: string): string => `mcp_${sourceId}.${variable}`;

/** How a docker package is started where nothing else is said. */
export const dockerRun = 'docker run --rm -i --init --memory 512m --memory-swap 512m --cpus 1 --pids-limit 256 --network none'
  .concat(' --read-only --tmpfs /tmp --security-opt no-new-privileges --cap-drop ALL')
  .split(' ');

/** A registration as the API would take it: parsed strictly, then normalised. */
export async function register(
  body: unknown,
  context: Partial<McpRegistrationContext> = {},
): Promise<NormalisedRegistration<McpDefinition>> {
  return normaliseRegistration(mcpRegistrationSchema.parse(body), { readManifest, secretName, ...context });
}

/** What a registration was refused with. */
export async function refusalOf(promise: Promise<unknown>): Promise<{ code: string; message: string; field?: string }> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof CribError) return error.toJSON();
    throw error;
  }
  throw new Error('It was accepted');
}

/** A plugin directory with these files in it, gone when the test has ended. */
export async function pluginDirectory(files: Record<string, unknown>): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'toolcrib-plugin-')));
  onTestFinished(() => rm(directory, { recursive: true }));
  for (const [name, content] of Object.entries(files)) {
    const path = join(directory, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  }
  return directory;
}
