import { join } from 'node:path';
import type { ServeConfig } from '../http/server-config.ts';
import { readDevelopmentPolicies } from '../store/read-development-policies.ts';
import type { Check } from './check.ts';

const patienceMs = 5_000;

/** [POL-1] Names what was granted in development on the same data and is not granted any more; nothing where there is none to tell of. */
export async function checkDevelopmentPolicies({
  dataDir,
  databaseUrl,
  issuers,
}: Pick<ServeConfig, 'dataDir' | 'databaseUrl' | 'issuers'>): Promise<Check[]> {
  if (issuers.length === 0) return [];
  const place = databaseUrl === undefined ? { file: join(dataDir, 'toolcrib.db') } : { url: databaseUrl };
  // A database without tables, or none at all, is for the other checks to tell of.
  const policies = await readDevelopmentPolicies(place, patienceMs).catch(() => []);
  if (policies.length === 0) return [];
  const detail = `${policies.join(', ')} ${policies.length === 1 ? 'is' : 'are'} from development, and ${policies.length === 1 ? 'grants' : 'grant'} nothing with an issuer`;
  const cure = 'save those you want again as an administrator, or in the configuration file, and delete the others';
  return [{ name: 'policies', required: false, state: 'missing', detail, cure }];
}
