import { z } from 'zod';

/** [DOOR-1] Which of the caller's tools an address serves, and how. */
export interface DoorAddress {
  /** The id of a group; undefined for all tools of the caller. */
  readonly group: string | undefined;
  /** `search` serves the three finding tools only. */
  readonly mode: 'list' | 'search';
  /** `own` keeps the names that sources give their tools, where they are unique at this address. */
  readonly names: 'prefixed' | 'own';
}

const groupPattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;

const querySchema = z.strictObject({
  mode: z.enum(['list', 'search']).default('list'),
  names: z.enum(['prefixed', 'own']).default('prefixed'),
});

/** Undefined where the path or the query has something that no address has. */
export function doorAddress(group: string | undefined, query: unknown): DoorAddress | undefined {
  if (group !== undefined && !groupPattern.test(group)) return undefined;
  const { success, data } = querySchema.safeParse(query);
  return success ? { group, ...data } : undefined;
}

export const noSuchAddress = 'There is no such address: /mcp or /mcp/{group}, without a slash at the end, with ?mode=search or ?names=own';
