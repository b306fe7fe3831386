import { matcherSchema, type Matcher } from './policy.ts';

/** A condition as it is written in settings: `path=value`, which holds where the claim is, or contains, the value. */
export function parseClaimRule(text: string): Matcher | undefined {
  const [, path, value] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  return matcherSchema.safeParse({ path, operator: 'contains', value }).data;
}
