import { z } from 'zod';

const values = z.array(z.union([z.string().max(200), z.number(), z.boolean()])).max(100);

/** [POLL-1] How to follow what an operation has only begun. */
export const pollProfileSchema = z.strictObject({
  status_url_template: z
    .string()
    .max(2048)
    .optional()
    .describe('The address to poll, with {fields} of the first answer, such as /orders/{id}; by default its Location header'),
  status_field_path: z.string().max(500).default('status').describe('Where the state is in an answer, such as data.status'),
  completed_values: values.min(1).default(['completed', 'succeeded', 'done']),
  failed_values: values.default(['failed', 'error', 'cancelled']),
  result_field_path: z.string().max(500).optional().describe('Where the result is in the last answer; by default the whole answer'),
  max_attempts: z.int().min(1).max(10_000).default(60),
  interval_ms: z.int().min(10).max(3_600_000).default(1000).describe('The first pause'),
  backoff: z.number().min(1).max(10).default(1.5).describe('The factor by which each pause grows'),
  max_interval_ms: z.int().min(10).max(3_600_000).default(30_000),
});
export type PollProfile = z.infer<typeof pollProfileSchema>;
