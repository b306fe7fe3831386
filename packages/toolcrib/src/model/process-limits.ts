import { z } from 'zod';

/** [SEC-2] The resources that one local server may use, with everything it starts. An absent field means no limit. */
export const processLimitsSchema = z.strictObject({
  memory_mb: z.int().min(16).max(1_048_576).describe('Resident memory in MiB, of all its processes together').optional(),
  cpu_seconds: z.int().min(1).max(31_536_000).describe('Processor time of each of its processes, from its start to its end').optional(),
  processes: z.int().min(1).max(100_000).describe('Processes at the same time, itself included').optional(),
  open_files: z.int().min(32).max(1_048_576).describe('Files and connections that each of its processes may have open').optional(),
});
export type ProcessLimits = z.infer<typeof processLimitsSchema>;

export const limitNames = ['memory_mb', 'cpu_seconds', 'processes', 'open_files'] as const satisfies (keyof ProcessLimits)[];
