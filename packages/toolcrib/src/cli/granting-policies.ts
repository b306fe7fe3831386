import { z } from 'zod';
import { policyListSchema } from '../api.ts';
import { parseAnswer } from './parse-answer.ts';
import type { Administrator } from './source-client.ts';

// Looser than the contract: a newer server may say more than we know of.
const policySchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  managed_by: z.string().nullable(),
  groups: z.array(z.string()),
  matchers: z.array(z.looseObject({ path: z.union([z.string(), z.array(z.string())]), operator: z.string(), value: z.unknown() })),
});
const listSchema = z.looseObject({ ...policyListSchema.shape, policies: z.array(policySchema) });
export type ShownPolicy = z.infer<typeof policySchema>;

/** [POL-3] The policies that grant one of these groups. */
export async function grantingPolicies({ client, token }: Administrator, groups: readonly string[]): Promise<ShownPolicy[]> {
  const { policies } = parseAnswer(listSchema, await client.json('GET', '/api/policies', { token }), client.url);
  const granting = policies.filter(({ enabled, matchers, groups: granted }) => {
    return enabled && matchers.length > 0 && granted.some((id) => groups.includes(id));
  });
  if (!granting.some(isOfDevelopment)) return granting;
  const { status } = await client.send('GET', '/dev/.well-known/openid-configuration');
  return status === 200 ? granting : granting.filter((policy) => !isOfDevelopment(policy));
}

/** These grant nothing where an issuer is configured. */
function isOfDevelopment({ managed_by: by }: ShownPolicy): boolean {
  return by === 'development';
}
