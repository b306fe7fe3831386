import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { CribError } from '../../model/crib-error.ts';
import { registrationFor } from '../../sources/registry.ts';
import { explainIssue } from './explain-issue.ts';
import { mostConfigBytes } from './read-config-text.ts';
import { readYaml } from './read-yaml.ts';
import { wishedStateSchema, type WishedState } from './wished-state.ts';

/** [SRC-6] A parsed configuration file. */
export interface ConfigFile<Server = Record<string, unknown>> {
  server: Server;
  wished: WishedState;
  /** The position of a path in the file, as `line:column`. */
  placeOf(path: readonly (string | number)[]): string;
}

interface FileFormat<Server extends z.ZodType> {
  /** The path of the file. Messages name it, and relative paths in the file start from its folder. */
  name: string;
  server: Server;
}

/** Accepts any server settings, for readers of the file that do not use them. */
export const anyServerSchema = z.record(z.string(), z.unknown());

export function configFileSchema<Server extends z.ZodType>(server: Server) {
  return z.strictObject({ server, ...wishedStateSchema.shape });
}

/** Parses toolcrib.yaml strictly: errors name the line and column. */
export function parseConfigFile<Server extends z.ZodType>(
  text: string,
  { name, server }: FileFormat<Server>,
): ConfigFile<z.output<Server>> {
  const refuse = (place: string, message: string, field?: string): never => {
    throw new CribError('VALIDATION_ERROR', `${name}:${place}: ${message}`, field === undefined ? {} : { field });
  };
  if (Buffer.byteLength(text) > mostConfigBytes) refuse('1:1', `the file is larger than ${mostConfigBytes} bytes`);
  const { value, placeOf } = readYaml(text, refuse);
  // A half-written file would delete everything.
  if (value == null) refuse('1:1', 'the file is empty: write `{}` if everything should be removed');
  const parsed = configFileSchema(server).safeParse(value);
  if (!parsed.success) {
    const { path, message } = explainIssue(parsed.error);
    refuse(placeOf(path), path.length === 0 ? message : `${path.join('.')}: ${message}`, path.join('.'));
  }
  const { server: settings, ...wished } = parsed.data as { server: z.output<Server> } & WishedState;
  const sources = filesFrom(wished.sources, dirname(resolve(name)));
  return { server: settings, wished: { ...wished, sources }, placeOf };
}

/** Paths in the file are relative to the folder of the file. */
function filesFrom(sources: WishedState['sources'], folder: string): WishedState['sources'] {
  return Object.fromEntries(
    Object.entries(sources).map(([namespace, source]) => [namespace, registrationFor(source.source_type).resolveFiles(source, folder)]),
  );
}
