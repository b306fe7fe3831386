import { parseConfigFile, type ConfigFile } from '../administration/configuration/parse-config-file.ts';
import { readConfigText } from '../administration/configuration/read-config-text.ts';
import { CribError } from '../model/crib-error.ts';
import type { Given } from './given.ts';
import { filedOptions, serverSettingsSchema } from './server-settings.ts';
import { UsageError } from '../model/usage-error.ts';

export const usualConfigFile = 'toolcrib.yaml';

/** [SRC-6] A configuration file that a person passes to a command, who also has to correct its mistakes. */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  return parseConfigFile(await readConfigText(path), { name: path, server: serverSettingsSchema });
}

/** The values for `serve`, with those of its file where neither an option nor a variable is given. */
export async function withConfigFile<Name extends string>(given: Given<Name | 'config'>): Promise<Given<Name | 'config'>> {
  const path = given.text('config');
  if (path === undefined) return given;
  try {
    const { server, placeOf } = await readConfigFile(path);
    return given.beside(filedOptions(server, (name) => `${path}:${placeOf(['server', name])}: server.${name}`));
  } catch (error) {
    throw error instanceof CribError ? new UsageError(error.message, { field: 'config', cause: error }) : error;
  }
}
