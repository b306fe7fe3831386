import { z } from 'zod';
import type { ConfigFile } from '../administration/configuration/parse-config-file.ts';
import { appliedConfigSchema, configPlanSchema, plannedChangeSchema } from '../api.ts';
import { CribError } from '../model/crib-error.ts';
import { parseAnswer } from './parse-answer.ts';
import type { Administrator } from './source-client.ts';

const { kind, id, action } = plannedChangeSchema.shape;

// Looser than the contract: a newer server may say more than we know of, and --json shows it.
const changeSchema = z.looseObject({
  kind,
  id,
  action,
  fields: z.array(z.looseObject({ field: z.string(), before: z.unknown(), after: z.unknown() })),
});
const testSchema = z.looseObject({ name: z.string(), outcome: z.enum(['passed', 'failed', 'unknown']), reasons: z.array(z.string()) });
const planSchema = z.looseObject({
  fingerprint: configPlanSchema.shape.fingerprint,
  changes: z.array(changeSchema),
  tests: z.array(testSchema),
});
const { outcome, error } = appliedConfigSchema.shape.changes.element.shape;
const appliedSchema = z.looseObject({ changes: z.array(changeSchema.extend({ outcome, error })), tests: z.array(testSchema) });

export type ShownPlan = z.infer<typeof planSchema>;
export type ShownChange = z.infer<typeof changeSchema>;
export type ShownTest = z.infer<typeof testSchema>;
export type ShownApplied = z.infer<typeof appliedSchema>;

export interface ConfigClient {
  plan(): Promise<ShownPlan>;
  apply(fingerprint: string): Promise<ShownApplied>;
}

/** [SRC-6] Asks a server about a file. Refusals name the place in the file. */
export function createConfigClient({ client, token }: Administrator, { wished, placeOf }: ConfigFile<unknown>, file: string): ConfigClient {
  async function ask(path: string, query: Record<string, string> = {}): Promise<unknown> {
    try {
      return await client.json('POST', path, { token, body: wished, query, silenceMs: 0 });
    } catch (error) {
      if (!(error instanceof CribError) || error.field === undefined || error.code === 'UNAUTHENTICATED') throw error;
      throw new CribError(error.code, `${file}:${placeOf(error.field.split('.'))}: ${error.message}`, { cause: error });
    }
  }

  return {
    plan: async () => parseAnswer(planSchema, await ask('/api/config/plan'), client.url),
    apply: async (fingerprint) => parseAnswer(appliedSchema, await ask('/api/config/apply', { fingerprint }), client.url),
  };
}
