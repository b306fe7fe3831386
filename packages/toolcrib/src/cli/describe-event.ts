import { z } from 'zod';

const progressSchema = z.object({ progress: z.number(), total: z.number().optional(), message: z.string().optional() });
const logSchema = z.object({ level: z.string(), data: z.unknown() });

/** One line for what a call tells while it runs. */
export function describeEvent(event: string, value: unknown): string {
  const progress = event === 'progress' ? progressSchema.safeParse(value).data : undefined;
  if (progress) {
    const { progress: done, total, message } = progress;
    if (total !== undefined) return [`${done} of ${total}`, message].filter(Boolean).join('  ');
    // A number of nothing in particular: words say more.
    return message || String(done);
  }
  const log = event === 'log' ? logSchema.safeParse(value).data : undefined;
  if (log) return `${log.level}: ${typeof log.data === 'string' ? log.data : JSON.stringify(log.data)}`;
  // Such as a question of the tool, which nobody can answer from here.
  return `${event}: ${JSON.stringify(value)}`;
}
