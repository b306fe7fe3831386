import { CribError } from '../../model/crib-error.ts';
import type { Embedder } from '../../model/embedder.ts';

const usualPackage = '@toolcrib/embeddings';

/** Loads the package that finds by meaning. It is not a dependency: an operator who wants it installs it beside Toolcrib. */
export async function loadEmbedder(name = usualPackage): Promise<Embedder> {
  const { openEmbedder } = await importPackage(name);
  if (typeof openEmbedder !== 'function') throw unusable(`${name} has no openEmbedder: install the version that belongs to this Toolcrib`);
  return (await openEmbedder()) as Embedder;
}

async function importPackage(name: string): Promise<{ openEmbedder?: unknown }> {
  try {
    return (await import(name)) as { openEmbedder?: unknown };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'ERR_RESOLVE_PACKAGE') throw error;
    // In a clone, the workspace has the package before it is built: then a module is missing, not the package.
    if (message.startsWith('Cannot find module'))
      throw unusable(`${name} is not built: run \`npm run build -w ${name}\` in the clone of Toolcrib`);
    throw unusable(
      `${name}, which --embeddings needs, is not installed: install it beside toolcrib with \`npm install ${name}\`, or with --global where toolcrib is`,
    );
  }
}

function unusable(message: string): CribError {
  return new CribError('VALIDATION_ERROR', message, { field: 'embeddings' });
}
