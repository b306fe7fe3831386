import { parsedJson } from '../../../model/json.ts';
import { z } from 'zod';

const lineSchema = z.object({
  id: z.string().max(200).optional(),
  status: z.string().max(1000).optional(),
  progressDetail: z.object({ current: z.number().nonnegative().optional(), total: z.number().nonnegative().optional() }).optional(),
  error: z.string().max(4000).optional(),
});
const mostLayers = 1000;

/** The progress of a pull, from the engine's messages about each layer. */
export interface PullProgress {
  /** Reads one line; returns the engine's message where it says that the pull has failed. */
  read(line: string): string | undefined;
  /** Bytes received, and bytes in total of the layers whose size is known. */
  readonly current: number;
  readonly total: number;
}

export function createPullProgress(): PullProgress {
  const layers = new Map<string, { current: number; total: number }>();
  const sum = (field: 'current' | 'total') => [...layers.values()].reduce((bytes, layer) => bytes + layer[field], 0);
  return {
    read(line) {
      const parsed = lineSchema.safeParse(parsedJson(line));
      if (!parsed.success) return undefined;
      const { id, status, progressDetail = {}, error } = parsed.data;
      if (error !== undefined) return error;
      if (id === undefined) return undefined;
      const known = layers.get(id);
      // The engine counts unpacking too, starting from 0.
      if (status === 'Downloading' && (known !== undefined || layers.size < mostLayers)) {
        const { current = 0, total = 0 } = progressDetail;
        layers.set(id, { current, total: Math.max(total, current) });
      } else if (known !== undefined && /^(?:Verifying|Download complete|Extracting|Pull complete)/.test(status ?? '')) {
        known.current = known.total;
      }
      return undefined;
    },
    get current() {
      return sum('current');
    },
    get total() {
      return sum('total');
    },
  };
}

/** `12 of 40 MB`; empty while no size is known. */
export function describeProgress({ current, total }: Pick<PullProgress, 'current' | 'total'>): string {
  if (total === 0) return '';
  const digits = total < 10_000_000 ? 1 : 0;
  return `, ${(current / 1e6).toFixed(digits)} of ${(total / 1e6).toFixed(digits)} MB`;
}
