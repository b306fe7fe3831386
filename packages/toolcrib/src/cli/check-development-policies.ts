import { join } from 'node:path';
import type { ServeConfig } from '../server/server-config.ts';
import { readDevelopmentPolicies } from '../store/read-development-policies.ts';
import type { Check } from './check.ts';

const patienceMs = 5_000;

/** [POL-1] Names policies from development on the same data, which grant nothing with an issuer; no check if there are none. */
export async function checkDevelopmentPolicies({
  dataDir,
  databaseUrl,
  issuers,
}: Pick<ServeConfig, 'dataDir' | 'databaseUrl' | 'issuers'>): Promise<Check[]> {
  if (issuers.length === 0) return [];
  const place = databaseUrl === undefined ? { file: join(dataDir, 'toolcrib.db') } : { url: databaseUrl };
  // Other checks report a missing or empty database.
  const policies = await readDevelopmentPolicies(place, patienceMs).catch(() => []);
  if (policies.length === 0) return [];
  const detail = `${policies.join(', ')} ${policies.length === 1 ? 'is' : 'are'} from development, and ${policies.length === 1 ? 'grants' : 'grant'} nothing with an issuer`;
  const cure = 'save those you want again as an administrator, or in the configuration file, and delete the others';
  return [{ name: 'policies', required: false, state: 'missing', detail, cure }];
}
