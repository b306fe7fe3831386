import { resolve } from 'node:path';
import type { WishedSource, WishedState } from './wished-state.ts';

/** Documents that a file names by a path are where that path leads from the file's own folder. */
export function absoluteFiles(sources: WishedState['sources'], folder: string): WishedState['sources'] {
  return Object.fromEntries(Object.entries(sources).map(([namespace, source]) => [namespace, absoluteFile(source, folder)]));
}

function absoluteFile(source: WishedSource, folder: string): WishedSource {
  switch (source.source_type) {
    case 'mcp':
      return source;
    case 'openapi':
      return { ...source, openapi: resolved(source.openapi, folder) };
    case 'workflow':
      return { ...source, workflow: resolved(source.workflow, folder) };
  }
}

function resolved<Form extends { file?: string | undefined }>(form: Form, folder: string): Form {
  return form.file === undefined ? form : { ...form, file: resolve(folder, form.file) };
}
