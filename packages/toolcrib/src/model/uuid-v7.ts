import { randomFillSync } from 'node:crypto';

/** Random bytes are fetched in bulk: asking for eight at a time would cost more than the rest of the id. */
const pool = Buffer.alloc(4096);
let used = pool.length;
let lastMs = 0;
let head = '';
let counter = 0;

/** RFC 9562 §5.7, with a counter in `rand_a` (§6.2) so that ids made in one process always sort in the order they were made. */
export function uuidV7(now: number = Date.now()): string {
  if (now > lastMs) setTime(now);
  else if (++counter > 0xfff) setTime(lastMs + 1);
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  // RFC 9562 §4.1: the variant is two bits of the ninth byte.
  pool[used] = ((pool[used] ?? 0) & 0x3f) | 0x80;
  const random = pool.toString('hex', used, used + 8);
  used += 8;
  const sequence = counter.toString(16).padStart(3, '0');
  return `${head}-7${sequence}-${random.slice(0, 4)}-${random.slice(4)}`;
}

/** The time is written once for all ids of a millisecond. */
function setTime(ms: number): void {
  lastMs = ms;
  counter = 0;
  const time = ms.toString(16).padStart(12, '0');
  head = `${time.slice(0, 8)}-${time.slice(8)}`;
}
