import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { CribError } from '../../model/crib-error.ts';
import { absoluteFiles } from './absolute-files.ts';
import { explainIssue } from './explain-issue.ts';
import { mostConfigBytes } from './read-config-text.ts';
import { readYaml } from './read-yaml.ts';
import { wishedStateSchema, type WishedState } from './wished-state.ts';

/** [SRC-6] What a configuration file says. */
export interface ConfigFile<Server = Record<string, unknown>> {
  server: Server;
  wished: WishedState;
  /** Where in the file something is, as `line:column`, by its path. */
  placeOf(path: readonly (string | number)[]): string;
}

interface FileFormat<Server extends z.ZodType> {
  /** Its path, by which messages call it and from which its own paths lead. */
  name: string;
  server: Server;
}

/** The settings of a server, for those who leave them to whoever starts one. */
export const anyServerSchema = z.record(z.string(), z.unknown());

export function configFileSchema<Server extends z.ZodType>(server: Server) {
  return z.strictObject({ server, ...wishedStateSchema.shape });
}

/** Reads toolcrib.yaml strictly: whatever is wrong in it is said with its line and column. */
export function parseConfigFile<Server extends z.ZodType>(
  text: string,
  { name, server }: FileFormat<Server>,
): ConfigFile<z.output<Server>> {
  const refuse = (place: string, message: string, field?: string): never => {
    throw new CribError('VALIDATION_ERROR', `${name}:${place}: ${message}`, field === undefined ? {} : { field });
  };
  if (Buffer.byteLength(text) > mostConfigBytes) refuse('1:1', `the file is larger than ${mostConfigBytes} bytes`);
  const { value, placeOf } = readYaml(text, refuse);
  // Half-written, it would be a wish to delete everything.
  if (value == null) refuse('1:1', 'the file is empty: write `{}` where nothing should be there');
  const parsed = configFileSchema(server).safeParse(value);
  if (!parsed.success) {
    const { path, message } = explainIssue(parsed.error);
    refuse(placeOf(path), path.length === 0 ? message : `${path.join('.')}: ${message}`, path.join('.'));
  }
  const { server: settings, ...wished } = parsed.data as { server: z.output<Server> } & WishedState;
  const sources = absoluteFiles(wished.sources, dirname(resolve(name)));
  return { server: settings, wished: { ...wished, sources }, placeOf };
}
