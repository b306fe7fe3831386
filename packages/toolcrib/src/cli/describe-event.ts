import { z } from 'zod';

const progressSchema = z.object({ progress: z.number(), total: z.number().optional(), message: z.string().optional() });
const logSchema = z.object({ level: z.string(), data: z.unknown() });

/** An event of a running call, in one line. */
export function describeEvent(event: string, value: unknown): string {
  const progress = event === 'progress' ? progressSchema.safeParse(value).data : undefined;
  if (progress) {
    const { progress: done, total, message } = progress;
    if (total !== undefined) return [`${done} of ${total}`, message].filter(Boolean).join('  ');
    // A count without a total says less than words.
    return message || String(done);
  }
  const log = event === 'log' ? logSchema.safeParse(value).data : undefined;
  if (log) return `${log.level}: ${typeof log.data === 'string' ? log.data : JSON.stringify(log.data)}`;
  // Such as a question of the tool, which cannot be answered from here.
  return `${event}: ${JSON.stringify(value)}`;
}
