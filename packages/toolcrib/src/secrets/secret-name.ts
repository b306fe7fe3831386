import { z } from 'zod';

/** Not beginning with a dot: `.` and `..` would be walked over by whatever handles the address `/api/secrets/{name}`. */
export const secretNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}$/, 'Use letters, digits, `_`, `-` and `.`, 200 at most, and no dot at the beginning');

export const longestSecret = 65_536;

/** The name of a secret that was made for one variable of one source, and that no other source may use. */
export function sourceSecretName(sourceId: string, variable: string): string {
  return `mcp_${sourceId}.${variable}`;
}

/** The source that a secret was made for, or undefined where every source may name it. */
export function ownerOf(secretName: string): string | undefined {
  return /^mcp_([^.]+)\./.exec(secretName)?.[1];
}
